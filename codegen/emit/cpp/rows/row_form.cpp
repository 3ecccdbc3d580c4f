#include "codegen/emit/cpp/rows/row_form.h"

#include "codegen/base/error.h"
#include "codegen/target/lowering.h"

namespace fovea::emit {

using namespace kernel;

namespace {

/// What the current block of rows has of a sum: `y_part` of the parts `y_parts`.
std::string name_of_part(const std::string& buffer) {
    const std::size_t at = buffer.rfind("_parts");
    return at == buffer.npos ? buffer + "_part" : std::string(buffer).erase(at + 5, 1);
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

/// The axis in the lanes: the `par` axis; without one the inner axis that memory likes best.
RowForm find_row_form(const Kernel& kernel, const LoopNest& nest, Signature& signature) {
    if (nest.par.size() > 1)
        throw InternalError("kernel " + kernel.name + ": two par axes need a contraction");
    const RowAxes axes = find_row_axes(kernel, nest);
    RowForm result{axes.nodes, {}, axes.rows, axes.blocks, axes.along, false, axes.across()};
    for (const BlockSum& sum : axes.sums) {
        const std::string& buffer = signature.buffer(as<Store>(kernel, sum.store)->access.buffer);
        result.sums.push_back({sum, signature.fresh(name_of_part(buffer))});
    }
    if (nest.par.empty()) return result;
    result.lane = nest.par[0];
    result.columns = !axes.inner.empty();
    result.steps = axes.inner;
    return result;
}

bool is_whole(const Kernel& kernel, AxisId lane) {
    const Dim& extent = kernel.axes[std::size_t(lane)].extent;
    return extent.is_static() && extent.value() % target::kLanes == 0;
}

}  // namespace fovea::emit
