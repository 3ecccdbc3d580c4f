#include "codegen/emit/nvptx/rows/row_plan.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/skeletons.h"
#include "codegen/kernel/analysis/loop_nest.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

int power_of_two_from(std::int64_t least) {
    int result = 1;
    while (result < least) result *= 2;
    return result;
}

class RowPlanner {
  public:
    RowPlanner(const Kernel& kernel, const target::GpuRows& target)
        : kernel_(kernel), target_(target), nest_(loop_nest(kernel)), nodes_(choose_axes()) {}

    RowPlan run() {
        choose_threads();
        const std::vector<AxisId> inner = plan_.inner();
        plan_.passes = find_passes(kernel_, nodes_, std::set<AxisId>(inner.begin(), inner.end()));
        return std::move(plan_);
    }

    std::optional<std::string> why_not() {
        const std::vector<AxisId> inner = plan_.inner();
        for (Id id : nest_.nodes) {
            auto reduce = as<Reduce>(kernel_, id);
            if (!reduce) continue;
            if (reduce->blocks >= 0 && reduce->axes != plan_.rows)
                return "its sums by blocks of rows are over different rows";
            if (reduce->blocks >= 0 && (plan_.lane < 0 || !plan_.steps.empty()))
                return "its sums by blocks of rows have not one more axis";
            if (reduce->blocks >= 0 && !is_stored_sum(id))
                return "a sum by blocks of rows is used before all are taken";
            if (reduce->blocks < 0 && !is_over_all(*reduce, inner))
                return "two of its sums are over different inner axes";
            if (reduce->blocks < 0)
                for (AxisId axis : kernel_.nodes[std::size_t(id)].axes)
                    if (std::find(inner.begin(), inner.end(), axis) != inner.end())
                        return "it reduces over some of its inner axes";
        }
        return std::nullopt;
    }

  private:
    /// Whether a walk over all inner axes meets each of its terms once.
    static bool is_over_all(const Reduce& reduce, const std::vector<AxisId>& inner) {
        return reduce.reduction == Reduction::max ||
               std::all_of(inner.begin(), inner.end(), [&](AxisId axis) {
                   return std::find(reduce.axes.begin(), reduce.axes.end(), axis) !=
                          reduce.axes.end();
               });
    }

    bool is_stored_sum(Id id) const {
        const bool stored = std::any_of(plan_.sums.begin(), plan_.sums.end(),
                                        [&](const BlockSum& one) { return one.sum == id; });
        return stored && std::none_of(nodes_.begin(), nodes_.end(), [&](Id user) {
                   const auto operands = operands_of(kernel_, user);
                   return std::find(operands.begin(), operands.end(), id) != operands.end();
               });
    }

    /// A kernel without reductions whose every store has every axis is all points, unless the
    /// length of its rows is static. Returns the nodes without the stores of sums over rows.
    std::vector<Id> choose_axes() {
        const RowAxes axes = find_row_axes(kernel_, nest_);
        plan_.points = nest_.each;
        plan_.sums = axes.sums, plan_.rows = axes.rows, plan_.blocks = axes.blocks;
        if (!nest_.par.empty()) {
            plan_.points.insert(plan_.points.end(), nest_.par.begin(), nest_.par.end());
            plan_.steps = axes.inner;
            return axes.nodes;
        }
        plan_.lane = axes.along;
        plan_.steps = axes.across();
        if (plan_.lane < 0) return axes.nodes;
        const bool is_static = kernel_.axes[std::size_t(plan_.lane)].extent.is_static();
        if (has_reductions() || !stores_everywhere() || (is_static && plan_.steps.empty()))
            return axes.nodes;
        plan_.points.insert(plan_.points.end(), plan_.steps.begin(), plan_.steps.end());
        plan_.points.push_back(plan_.lane);
        plan_.lane = -1;
        plan_.steps.clear();
        return axes.nodes;
    }

    bool has_reductions() const {
        return std::any_of(nest_.nodes.begin(), nest_.nodes.end(),
                           [&](Id id) { return as<Reduce>(kernel_, id) != nullptr; });
    }

    /// Whether every store has an element for each position of the inner axes.
    bool stores_everywhere() const {
        for (Id id : nest_.nodes) {
            auto store = as<Store>(kernel_, id);
            if (!store) continue;
            std::vector<AxisId> axes = kernel_.nodes[std::size_t(store->value)].axes;
            for (const Stride& stride : store->access.strides) axes.push_back(stride.axis);
            for (AxisId axis : plan_.inner())
                if (std::find(axes.begin(), axes.end(), axis) == axes.end()) return false;
        }
        return true;
    }

    bool reduces_rows() const {
        return std::any_of(nest_.nodes.begin(), nest_.nodes.end(), [&](Id id) {
            auto reduce = as<Reduce>(kernel_, id);
            return reduce && reduce->blocks < 0;
        });
    }

    /// Elements that do without each other: a block takes few of them, so that there are many.
    void cut(const Dim& extent, int lanes) {
        plan_.lanes = lanes;
        plan_.per_lane = target_.strip;
        for (int vector = target_.strip; vector >= 1; vector /= 2)
            if (plan_.vector == 1 && extent.divisible_by(Dim(lanes * vector)))
                plan_.per_lane = plan_.vector = vector;
        plan_.strip = lanes * plan_.per_lane;
    }

    /// A row that nothing is reduced over, longer than a block keeps: a block takes a part of it.
    bool is_cut(const Dim& extent) const {
        return extent.is_static() &&
               extent.value() > std::int64_t(target_.threads) * target_.kept &&
               plan_.steps.empty() && plan_.sums.empty() && !has_reductions() &&
               stores_everywhere();
    }

    /// Whether several threads can walk the first of `steps`, each some positions of it.
    bool shares_steps() const {
        if (plan_.steps.empty() || !has_reductions()) return false;
        const Dim& extent = kernel_.axes[std::size_t(plan_.steps[0])].extent;
        if (extent.is_static() && extent.value() < target_.long_column) return false;
        return std::none_of(nest_.nodes.begin(), nest_.nodes.end(), [&](Id id) {
            auto store = as<Store>(kernel_, id);
            return store && store->accumulate;
        });
    }

    void choose_threads() {
        plan_.threads = target_.threads;
        if (plan_.lane < 0) {
            if (shares_steps()) plan_.parts = target_.threads / kWarp;
            return;
        }
        const Dim& extent = kernel_.axes[std::size_t(plan_.lane)].extent;
        const bool sums = !plan_.sums.empty();
        if (sums && !reduces_rows() && stores_everywhere()) return cut(extent, kWarp);
        if (is_cut(extent)) return cut(extent, plan_.threads);
        if (!extent.is_static()) {
            plan_.lanes = plan_.threads = sums ? target_.sum_threads : target_.long_row_threads;
            return;
        }
        const std::int64_t length = extent.value();
        plan_.lanes = length > kWarp * target_.kept
                          ? target_.threads
                          : std::min(kWarp, power_of_two_from((length + 3) / 4));
        // Groups that walk different numbers of rows must be whole warps.
        if (sums) plan_.lanes = std::max(plan_.lanes, kWarp);
        const std::int64_t per_lane = (length + plan_.lanes - 1) / plan_.lanes;
        const bool fits = std::int64_t(plan_.sums.size()) * length <= target_.shared_floats;
        if (per_lane == 0 || per_lane > target_.kept || !plan_.steps.empty() || (sums && !fits)) {
            if (sums) plan_.lanes = plan_.threads;
            return;
        }
        plan_.per_lane = int(per_lane);
        for (int vector : {4, 2})
            if (plan_.vector == 1 && length % (plan_.lanes * vector) == 0) plan_.vector = vector;
        // As many blocks as processors: each has the more rows on their way.
        if (sums && plan_.lanes == kWarp && per_lane <= target_.kept / 2)
            plan_.threads = 2 * target_.threads;
    }

    const Kernel& kernel_;
    const target::GpuRows& target_;
    LoopNest nest_;
    RowPlan plan_;
    std::vector<Id> nodes_;  // those of the nest, without the stores of sums over rows
};

}  // namespace

std::vector<AxisId> RowPlan::inner() const {
    std::vector<AxisId> result = steps;
    if (lane >= 0) result.push_back(lane);
    return result;
}

RowPlan plan_rows(const Kernel& kernel, const target::GpuRows& target) {
    return RowPlanner(kernel, target).run();
}

std::optional<std::string> why_not_rows(const Kernel& kernel) {
    return RowPlanner(kernel, {}).why_not();
}

}  // namespace fovea::emit::nvptx
