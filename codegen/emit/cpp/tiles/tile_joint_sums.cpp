// A group grows from its first sum by those behind it that fit.
#include "codegen/emit/cpp/tiles/tile_joint_sums.h"

#include <algorithm>
#include <map>
#include <set>

namespace fovea::emit {

using namespace kernel;

namespace {

bool is_large(const Kernel& kernel, Id id) {
    return as<Map>(kernel, id) && kernel.nodes[std::size_t(id)].axes.size() > 2;
}

/// The large values that a value is made of, itself included.
void find_values(const Kernel& kernel, Id id, std::set<Id>& values) {
    if (!is_large(kernel, id) || !values.insert(id).second) return;
    for (Id operand : operands_of(kernel, id)) find_values(kernel, operand, values);
}

class Groups {
  public:
    Groups(const TilePlan& plan, const TileAxes& axes, const TileRoots& roots,
           const std::vector<Id>& block, Id loop)
        : plan_(plan),
          kernel_(plan.kernel),
          axes_(axes),
          roots_(roots),
          block_(block),
          loop_(loop) {}

    std::map<Id, std::vector<Id>> run() {
        std::map<Id, std::vector<Id>> groups;
        std::set<Id> taken;
        for (Id first : block_) {
            if (taken.contains(first) || !can_be_joint(first)) continue;
            std::vector<Id> group{first};
            for (Id id : block_)
                if (id > first && !taken.contains(id) && can_be_joint(id) && fits(id, first))
                    group.push_back(id);
            const bool both_ways = std::any_of(
                group.begin(), group.end(), [&](Id id) { return step_of(id) != step_of(first); });
            if (!both_ways) continue;
            taken.insert(group.begin(), group.end());
            groups[first] = group;
        }
        return groups;
    }

  private:
    Place2 place(Id id) const { return axes_.place(kernel_.nodes[std::size_t(id)].axes, loop_); }
    AxisId step_of(Id id) const { return as<Reduce>(kernel_, id)->axes[0]; }

    /// A sum of a term of three axes that becomes a tile [row, lane] of its own.
    bool can_be_joint(Id id) const {
        const auto reduce = as<Reduce>(kernel_, id);
        if (!reduce || reduce->reduction != Reduction::sum || reduce->axes.size() != 1)
            return false;
        const Node& term = kernel_.nodes[std::size_t(reduce->operand)];
        return term.axes.size() == 3 && roots_.is_sum(id) && place(id).row >= 0 &&
               !plan_.is_tiled(place(id).lane) && roots_.is_costly(reduce->operand);
    }

    bool fits(Id id, Id first) const {
        const bool same_axes = term_axes(id) == term_axes(first);
        return same_axes && place(id).lane == place(first).lane && shares(id, first) &&
               is_known(as<Reduce>(kernel_, id)->operand, first);
    }
    const std::vector<AxisId>& term_axes(Id id) const {
        return kernel_.nodes[std::size_t(as<Reduce>(kernel_, id)->operand)].axes;
    }

    bool shares(Id id, Id other) const {
        std::set<Id> own, others;
        find_values(kernel_, as<Reduce>(kernel_, id)->operand, own);
        find_values(kernel_, as<Reduce>(kernel_, other)->operand, others);
        return std::any_of(own.begin(), own.end(), [&](Id value) {
            return others.contains(value) && roots_.is_costly(value);
        });
    }

    /// Whether everything in the block that a value is made of is computed in front of `first`.
    bool is_known(Id id, Id first) const {
        const bool computed = roots_.is_root(id) || as<Result>(kernel_, id);
        if (computed) return id < first;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::all_of(operands.begin(), operands.end(),
                           [&](Id operand) { return is_known(operand, first); });
    }

    const TilePlan& plan_;
    const Kernel& kernel_;
    const TileAxes& axes_;
    const TileRoots& roots_;
    const std::vector<Id>& block_;
    const Id loop_;
};

}  // namespace

std::map<Id, std::vector<Id>> joint_sums(const TilePlan& plan, const TileAxes& axes,
                                         const TileRoots& roots, const std::vector<Id>& block,
                                         Id loop) {
    return Groups(plan, axes, roots, block, loop).run();
}

const Map* product_of_pairs(const Kernel& kernel, Id sum) {
    const auto reduce = as<Reduce>(kernel, sum);
    if (!reduce || reduce->reduction != Reduction::sum) return nullptr;
    const auto map = as<Map>(kernel, reduce->operand);
    const Node& node = kernel.nodes[std::size_t(reduce->operand)];
    return map && map->function == Elementwise::mul && node.axes.size() > 2 ? map : nullptr;
}

std::vector<Id> shared_values(const Kernel& kernel, const std::vector<Id>& sums) {
    std::set<Id> values;
    for (Id id : sums) find_values(kernel, as<Reduce>(kernel, id)->operand, values);
    std::map<Id, int> uses;
    for (Id id : sums) ++uses[as<Reduce>(kernel, id)->operand];
    for (Id id : values)
        for (Id operand : operands_of(kernel, id)) ++uses[operand];
    std::map<Id, int> added;  // uses of products by sums, which multiply and add at once
    for (Id id : sums)
        if (const Map* product = product_of_pairs(kernel, id); product)
            ++added[as<Reduce>(kernel, id)->operand];
    std::vector<Id> shared;
    for (auto at = values.rbegin(); at != values.rend(); ++at) {
        if (uses[*at] < 2) continue;
        if (uses[*at] > added[*at]) shared.insert(shared.begin(), *at);
        else
            for (Id operand : operands_of(kernel, *at)) uses[operand] += uses[*at] - 1;
    }
    return shared;
}

}  // namespace fovea::emit
