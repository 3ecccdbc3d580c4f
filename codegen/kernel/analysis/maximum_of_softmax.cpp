#include "codegen/kernel/analysis/maximum_of_softmax.h"

#include <algorithm>

namespace fovea::kernel {
namespace {

/// What follows a maximum: differences, their exponentials, and the sums of those.
class Softmax {
  public:
    Softmax(const Kernel& kernel, Id maximum)
        : kernel_(kernel),
          maximum_(maximum),
          has_part_(kernel.nodes.size()),
          has_sum_(kernel.nodes.size()) {
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
            if (is_difference(id)) inside_.push_back(id);
            if (is_exponential(id)) inside_.push_back(id), exponentials_.push_back(id);
        }
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
            if (is_sum(id)) sums_.push_back(id);
    }

    /// Whether all that is stored of the maximum and of what follows it takes a sum, too.
    bool is_whole() {
        if (sums_.empty()) return false;
        while (follow()) {
        }
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (leaves_without_sum(id)) return false;
        return true;
    }

  private:
    /// The operand of the maximum less the maximum. Where the operand leaves out elements, those
    /// may take part here: the sum then shows NaN of more elements than the maximum takes.
    bool is_difference(Id id) const {
        const Map* map = as<Map>(kernel_, id);
        if (!map || map->function != Elementwise::sub || map->operands[1] != maximum_) return false;
        const Id operand = as<Reduce>(kernel_, maximum_)->operand;
        const Map* chosen = as<Map>(kernel_, operand);
        return map->operands[0] == operand || (chosen && chosen->function == Elementwise::where &&
                                               map->operands[0] == chosen->operands[1]);
    }
    bool is_exponential(Id id) const {
        const Map* map = as<Map>(kernel_, id);
        return map && (map->function == Elementwise::exp || map->function == Elementwise::exp2) &&
               is_in(inside_, map->operands[0]);
    }
    bool is_sum(Id id) const {
        const Reduce* sum = as<Reduce>(kernel_, id);
        return sum && sum->reduction == Reduction::sum &&
               sum->axes == as<Reduce>(kernel_, maximum_)->axes &&
               is_in(exponentials_, sum->operand);
    }
    bool takes_part(Id id, const std::vector<Id>& operands) const {
        if (id == maximum_ || is_in(inside_, id)) return true;
        if (is_in(sums_, id)) return false;
        return std::any_of(operands.begin(), operands.end(),
                           [&](Id operand) { return has_part_[std::size_t(operand)]; });
    }
    /// Goes over all nodes; whether something new was found.
    bool follow() {
        const std::vector<bool> parts = has_part_, sums = has_sum_;
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id) {
            const std::vector<Id> operands = operands_of(kernel_, id);
            has_part_[std::size_t(id)] = takes_part(id, operands);
            has_sum_[std::size_t(id)] = takes_sum(id, operands);
        }
        return parts != has_part_ || sums != has_sum_;
    }
    /// Whether a node stores or carries a value that has a part of it and no sum.
    bool leaves_without_sum(Id id) const {
        if (const Loop* loop = as<Loop>(kernel_, id))
            return std::any_of(loop->carries.begin(), loop->carries.end(), [&](const Carry& carry) {
                return has_part_[std::size_t(carry.next)];
            });
        if (!has_part_[std::size_t(id)] || as<Map>(kernel_, id) || as<Reduce>(kernel_, id))
            return false;
        const Store* store = as<Store>(kernel_, id);
        return !store || !has_sum_[std::size_t(store->value)];
    }
    /// NaN of a sum stays NaN in what is computed of it, unless it is only compared.
    bool takes_sum(Id id, const std::vector<Id>& operands) const {
        if (is_in(sums_, id)) return true;
        const Map* map = as<Map>(kernel_, id);
        if (!map || row_of(map->function).gives_boolean) return false;
        const auto first = operands.begin() + (map->function == Elementwise::where);
        return std::any_of(first, operands.end(),
                           [&](Id operand) { return has_sum_[std::size_t(operand)]; });
    }
    static bool is_in(const std::vector<Id>& ids, Id id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    }

    const Kernel& kernel_;
    Id maximum_;
    std::vector<Id> inside_, exponentials_, sums_;
    std::vector<bool> has_part_, has_sum_;  // of each node
};

}  // namespace

bool is_maximum_of_softmax(const Kernel& kernel, Id reduce) {
    const Reduce* maximum = as<Reduce>(kernel, reduce);
    return maximum && maximum->reduction == Reduction::max && Softmax(kernel, reduce).is_whole();
}

}  // namespace fovea::kernel
