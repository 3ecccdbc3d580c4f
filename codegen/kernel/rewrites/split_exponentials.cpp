// The terms of a sum are gathered in groups with fewer axes than the sum; each group's exponential
// stands behind the last of its terms.
#include "codegen/kernel/rewrites/split_exponentials.h"

#include <algorithm>
#include <optional>

#include "codegen/kernel/analysis/blocks.h"

namespace fovea::kernel {
namespace {

constexpr std::size_t kLeastAxes = 3, kMostGroups = 3;

struct Term {
    Id tile = -1;
    double factor = 1;
};
using Group = std::vector<Term>;

class Splitter {
  public:
    Splitter(Kernel& kernel, Id function)
        : kernel_(kernel),
          function_(function),
          is_tanh_(as<Map>(kernel, function)->function == Elementwise::tanh) {}

    bool run() {
        if (!take_terms(as<Map>(kernel_, function_)->operands[0], is_tanh_ ? 2 : -1)) return false;
        if (!group_terms() || groups_.size() < 2) return false;
        Id significand = -1, exponent = -1;
        for (const Group& group : groups_) {
            Position at = last_of(group);
            const Id sum = sum_of(group, at);
            const std::string name = node(group[0].tile).name;
            const auto part = [&](Elementwise function, const char* suffix) {
                return insert(at, Map{function, {sum}}, name.empty() ? "" : name + suffix);
            };
            const Id m = part(Elementwise::exp_significand, "_significand");
            const Id n = part(Elementwise::exp_exponent, "_exponent");
            significand = significand < 0 ? m : join(Elementwise::mul, significand, m);
            exponent = exponent < 0 ? n : join(Elementwise::add, exponent, n);
        }
        std::string& name = kernel_.nodes[std::size_t(function_)].name;
        if (name.empty()) name = is_tanh_ ? "tanh_of_sum" : "sigmoid_of_sum";
        *as<Map>(kernel_, function_) = {
            is_tanh_ ? Elementwise::tanh_of_exp : Elementwise::sigmoid_of_exp,
            {significand, exponent}};
        renumber(kernel_);
        return true;
    }

  private:
    const Node& node(Id id) const { return kernel_.nodes[std::size_t(id)]; }

    std::optional<double> number(Id id) const {
        const auto constant = as<Constant>(kernel_, id);
        return constant && node(id).axes.empty() ? std::optional(constant->value) : std::nullopt;
    }

    /// The terms of a value that has as many axes as the sum; false: something else than a sum.
    bool take_terms(Id id, double factor) {
        if (node(id).dtype != DType::f32) return false;
        if (node(id).axes.size() < node(function_).axes.size()) {
            terms_.push_back({id, factor});
            return true;
        }
        const auto map = as<Map>(kernel_, id);
        if (!map) return false;
        const auto operand = [&](int i, double by) {
            return take_terms(map->operands[std::size_t(i)], factor * by);
        };
        switch (map->function) {
            case Elementwise::add: return operand(0, 1) && operand(1, 1);
            case Elementwise::sub: return operand(0, 1) && operand(1, -1);
            case Elementwise::neg: return operand(0, -1);
            case Elementwise::mul:
                for (int i : {0, 1})
                    if (const auto by = number(map->operands[std::size_t(i)]))
                        return operand(1 - i, *by);
                return false;
            case Elementwise::div:
                if (const auto by = number(map->operands[1])) return operand(0, 1 / *by);
                return false;
            default: return false;
        }
    }

    /// Large terms first: a small one joins the first group that has its axes.
    bool group_terms() {
        std::sort(terms_.begin(), terms_.end(), [&](const Term& a, const Term& b) {
            const std::size_t axes_of_a = node(a.tile).axes.size();
            const std::size_t axes_of_b = node(b.tile).axes.size();
            return axes_of_a != axes_of_b ? axes_of_a > axes_of_b : a.tile < b.tile;
        });
        for (const Term& term : terms_) {
            const auto& own = node(term.tile).axes;
            const auto has_axes = [&](const Group& group) {
                const auto& axes = node(group[0].tile).axes;
                return std::includes(axes.begin(), axes.end(), own.begin(), own.end());
            };
            const auto found = std::find_if(groups_.begin(), groups_.end(), has_axes);
            if (found != groups_.end()) found->push_back(term);
            else groups_.push_back({term});
        }
        return groups_.size() <= kMostGroups;
    }

    Position last_of(const Group& group) const {
        const std::vector<Position> positions = positions_of(kernel_);
        Position last = positions[std::size_t(group[0].tile)];
        for (const Term& term : group) {
            const Position& at = positions[std::size_t(term.tile)];
            const bool later = at.loops.size() > last.loops.size() ||
                               (at.loops.size() == last.loops.size() && at.index > last.index);
            if (later) last = at;
        }
        return last;
    }

    /// f(a, b) in front of the function.
    Id join(Elementwise f, Id a, Id b) {
        Position at = positions_of(kernel_)[std::size_t(function_)];
        --at.index;
        return insert(at, Map{f, {a, b}}, f == Elementwise::mul ? "significand" : "exponent");
    }

    /// Puts a node behind `at`, and moves `at` behind it.
    Id insert(Position& at, Operation operation, std::string name) {
        const Id loop = at.loops.empty() ? -1 : at.loops.back();
        return insert_node(kernel_, loop, at.index++, std::move(operation), DType::f32,
                           std::move(name));
    }

    Id sum_of(const Group& group, Position& at) {
        Id sum = -1;
        for (const Term& term : group) {
            Id scaled = term.tile;
            if (term.factor != 1) {
                const Id factor = insert(at, Constant{term.factor}, "");
                const std::string name = node(scaled).name;
                scaled = insert(at, Map{Elementwise::mul, {scaled, factor}},
                                name.empty() ? "" : name + "_scaled");
            }
            sum = sum < 0 ? scaled : insert(at, Map{Elementwise::add, {sum, scaled}}, "");
        }
        return sum;
    }

    Kernel& kernel_;
    const Id function_;
    const bool is_tanh_;
    std::vector<Term> terms_;
    std::vector<Group> groups_;
};

bool can_be_split(const Kernel& kernel, Id id) {
    const auto map = as<Map>(kernel, id);
    return map && (map->function == Elementwise::tanh || map->function == Elementwise::sigmoid) &&
           kernel.nodes[std::size_t(id)].axes.size() >= kLeastAxes;
}

}  // namespace

void split_exponentials(Kernel& kernel) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Id id = 0; id < Id(kernel.nodes.size()) && !changed; ++id)
            changed = can_be_split(kernel, id) && Splitter(kernel, id).run();
    }
}

}  // namespace fovea::kernel
