#include "codegen/emit/nvptx/row_plan.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/form.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/skeletons.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

constexpr int kBlock = 256;
constexpr int kLongColumn = 32;  // positions along a column that several threads share
constexpr int kLongRow = 128;    // threads for a row whose length is not static
constexpr int kKept = 16;        // elements of a row that one thread keeps
constexpr int kSharedFloats = 10240;

int power_of_two_from(std::int64_t least) {
    int result = 1;
    while (result < least) result *= 2;
    return result;
}

class RowPlanner {
  public:
    explicit RowPlanner(const Kernel& kernel) : kernel_(kernel), form_(find_form(kernel)) {}

    RowPlan run() {
        find_sums();
        choose_axes();
        choose_threads();
        const std::vector<AxisId> inner = plan_.inner();
        plan_.passes =
            find_passes(kernel_, nodes_, std::set<AxisId>(inner.begin(), inner.end()), false);
        return std::move(plan_);
    }

    std::optional<std::string> why_not() {
        find_sums();
        choose_axes();
        const std::vector<AxisId> inner = plan_.inner();
        for (Id id : form_.nodes) {
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
    void find_sums() {
        for (Id id : form_.nodes) {
            auto store = as<Store>(kernel_, id);
            auto sum = store ? as<Reduce>(kernel_, store->value) : nullptr;
            if (!sum || sum->blocks < 0) {
                nodes_.push_back(id);
                continue;
            }
            plan_.sums.push_back({store->value, id});
            plan_.rows = sum->axes;
            plan_.blocks = sum->blocks;
        }
    }

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
                                        [&](const RowSum& one) { return one.sum == id; });
        return stored && std::none_of(nodes_.begin(), nodes_.end(), [&](Id user) {
                   const auto operands = operands_of(kernel_, user);
                   return std::find(operands.begin(), operands.end(), id) != operands.end();
               });
    }

    /// A kernel without reductions whose every store has every axis is all points, unless the
    /// length of its rows is static.
    void choose_axes() {
        plan_.points = form_.each;
        std::vector<AxisId> inner = form_.free;
        std::erase_if(inner, [&](AxisId axis) { return axis == plan_.blocks || is_row(axis); });
        if (!form_.par.empty()) {
            plan_.points.insert(plan_.points.end(), form_.par.begin(), form_.par.end());
            plan_.steps = inner;
            return;
        }
        if (inner.empty()) return;
        plan_.lane = *std::max_element(inner.begin(), inner.end(), [&](AxisId a, AxisId b) {
            return unit_strides(a) < unit_strides(b);
        });
        std::erase(inner, plan_.lane);
        plan_.steps = inner;
        const bool is_static = kernel_.axes[std::size_t(plan_.lane)].extent.is_static();
        if (has_reductions() || !stores_everywhere() || (is_static && inner.empty())) return;
        plan_.points.insert(plan_.points.end(), inner.begin(), inner.end());
        plan_.points.push_back(plan_.lane);
        plan_.lane = -1;
        plan_.steps.clear();
    }

    bool is_row(AxisId axis) const {
        return std::find(plan_.rows.begin(), plan_.rows.end(), axis) != plan_.rows.end();
    }
    bool has_reductions() const {
        return std::any_of(form_.nodes.begin(), form_.nodes.end(),
                           [&](Id id) { return as<Reduce>(kernel_, id) != nullptr; });
    }

    /// Whether every store has an element for each position of the inner axes.
    bool stores_everywhere() const {
        for (Id id : form_.nodes) {
            auto store = as<Store>(kernel_, id);
            if (!store) continue;
            std::vector<AxisId> axes = kernel_.nodes[std::size_t(store->value)].axes;
            for (const Stride& stride : store->access.strides) axes.push_back(stride.axis);
            for (AxisId axis : plan_.inner())
                if (std::find(axes.begin(), axes.end(), axis) == axes.end()) return false;
        }
        return true;
    }

    int unit_strides(AxisId axis) const {
        int count = 0;
        const auto add = [&](const Access& access) {
            for (const Stride& stride : access.strides)
                count += stride.axis == axis && stride.stride.is_one();
        };
        for (Id id : form_.nodes) {
            if (auto load = as<Load>(kernel_, id)) add(load->access);
            if (auto store = as<Store>(kernel_, id)) add(store->access);
        }
        return count;
    }

    bool reduces_rows() const {
        return std::any_of(form_.nodes.begin(), form_.nodes.end(), [&](Id id) {
            auto reduce = as<Reduce>(kernel_, id);
            return reduce && reduce->blocks < 0;
        });
    }

    /// Columns that do without each other: few for each block, so that there are many blocks.
    void cut_columns(const Dim& extent) {
        plan_.lanes = kWarp;
        plan_.per_lane = 4;
        for (int vector : {4, 2, 1})
            if (plan_.vector == 1 && extent.divisible_by(Dim(kWarp * vector)))
                plan_.per_lane = plan_.vector = vector;
        plan_.strip = kWarp * plan_.per_lane;
    }

    /// Whether several threads can walk the first of `steps`, each some positions of it.
    bool shares_steps() const {
        if (plan_.steps.empty() || !has_reductions()) return false;
        const Dim& extent = kernel_.axes[std::size_t(plan_.steps[0])].extent;
        if (extent.is_static() && extent.value() < kLongColumn) return false;
        return std::none_of(form_.nodes.begin(), form_.nodes.end(), [&](Id id) {
            auto store = as<Store>(kernel_, id);
            return store && store->accumulate;
        });
    }

    void choose_threads() {
        plan_.threads = kBlock;
        if (plan_.lane < 0) {
            if (shares_steps()) plan_.parts = kBlock / kWarp;
            return;
        }
        const Dim& extent = kernel_.axes[std::size_t(plan_.lane)].extent;
        const bool sums = !plan_.sums.empty();
        if (sums && !reduces_rows() && stores_everywhere()) return cut_columns(extent);
        if (!extent.is_static()) {
            plan_.lanes = plan_.threads = sums ? 4 * kBlock : kLongRow;
            return;
        }
        const std::int64_t length = extent.value();
        plan_.lanes =
            length > kWarp * kKept ? kBlock : std::min(kWarp, power_of_two_from((length + 3) / 4));
        // Groups that walk different numbers of rows must be whole warps.
        if (sums) plan_.lanes = std::max(plan_.lanes, kWarp);
        const std::int64_t per_lane = (length + plan_.lanes - 1) / plan_.lanes;
        const bool fits = std::int64_t(plan_.sums.size()) * length <= kSharedFloats;
        if (per_lane == 0 || per_lane > kKept || !plan_.steps.empty() || (sums && !fits)) {
            if (sums) plan_.lanes = plan_.threads;
            return;
        }
        plan_.per_lane = int(per_lane);
        for (int vector : {4, 2})
            if (plan_.vector == 1 && length % (plan_.lanes * vector) == 0) plan_.vector = vector;
        // As many blocks as processors: each has the more rows on their way.
        if (sums && plan_.lanes == kWarp && per_lane <= kKept / 2) plan_.threads = 2 * kBlock;
    }

    const Kernel& kernel_;
    Form form_;
    std::vector<Id> nodes_;  // those of the form, without the stores of sums over rows
    RowPlan plan_;
};

}  // namespace

std::vector<AxisId> RowPlan::inner() const {
    std::vector<AxisId> result = steps;
    if (lane >= 0) result.push_back(lane);
    return result;
}

RowPlan plan_rows(const Kernel& kernel) { return RowPlanner(kernel).run(); }

std::optional<std::string> why_not_rows(const Kernel& kernel) {
    return RowPlanner(kernel).why_not();
}

}  // namespace fovea::emit::nvptx
