#include "codegen/emit/cpp/row_form.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

using namespace kernel;

namespace {

constexpr std::int64_t kRowLanes = 16;

/// Takes the stores of sums over rows out of the nodes: passes add to them.
void find_row_sums(const Kernel& kernel, const Form& form, Signature& signature, RowForm& result) {
    for (Id id : form.nodes) {
        auto store = as<Store>(kernel, id);
        auto sum = store ? as<Reduce>(kernel, store->value) : nullptr;
        if (!sum || sum->blocks < 0) {
            result.nodes.push_back(id);
            continue;
        }
        std::string part = signature.buffer(store->access.buffer);
        if (const std::size_t at = part.rfind("_parts"); at != part.npos) part.erase(at + 5, 1);
        else part += "_part";
        result.sums.push_back({store->value, id, signature.fresh(part)});
        result.rows = sum->axes;
        result.blocks = sum->blocks;
    }
}

int unit_strides(const Kernel& kernel, const std::vector<Id>& nodes, AxisId axis) {
    int count = 0;
    for (Id id : nodes)
        if (const Access* access = Values::access_of(kernel, id))
            for (const Stride& stride : access->strides)
                count += stride.axis == axis && stride.stride.is_one();
    return count;
}

/// The axis in the lanes: the `par` axis; without one the free axis that memory likes best.
void choose_lane(const Kernel& kernel, const Form& form, RowForm& result) {
    if (form.par.size() > 1)
        throw InternalError("kernel " + kernel.name + ": two par axes need a contraction");
    std::vector<AxisId> inner = form.free;
    std::erase_if(inner, [&](AxisId axis) {
        return axis == result.blocks ||
               std::find(result.rows.begin(), result.rows.end(), axis) != result.rows.end();
    });
    if (!form.par.empty()) {
        result.lane = form.par[0];
        result.columns = !inner.empty();
    } else if (!inner.empty()) {
        result.lane = *std::max_element(inner.begin(), inner.end(), [&](AxisId a, AxisId b) {
            return unit_strides(kernel, result.nodes, a) < unit_strides(kernel, result.nodes, b);
        });
        std::erase(inner, result.lane);
    }
    result.steps = inner;
}

}  // namespace

const RowSum& RowForm::sum_of(Id id) const {
    for (const RowSum& one : sums)
        if (one.sum == id) return one;
    throw InternalError("a sum over rows is not stored");
}

std::set<AxisId> RowForm::inner() const {
    std::set<AxisId> result(steps.begin(), steps.end());
    if (lane >= 0 && !columns) result.insert(lane);
    return result;
}

RowForm find_row_form(const Kernel& kernel, const Form& form, Signature& signature) {
    RowForm result;
    find_row_sums(kernel, form, signature, result);
    choose_lane(kernel, form, result);
    return result;
}

bool is_whole(const Kernel& kernel, AxisId lane) {
    const Dim& extent = kernel.axes[std::size_t(lane)].extent;
    return extent.is_static() && extent.value() % kRowLanes == 0;
}

}  // namespace fovea::emit
