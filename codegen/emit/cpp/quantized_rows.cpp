#include "codegen/emit/cpp/quantized_rows.h"

#include "codegen/base/error.h"
#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/signature.h"

namespace fovea::emit {

using namespace kernel;

std::string quantized_rows_text(const Kernel& kernel, const Contract& contract,
                                const ContractionSchedule& schedule, const std::string& start) {
    const Access &a = as<Load>(kernel, schedule.a)->access,
                 &b = as<Load>(kernel, schedule.b)->access;
    const Buffer& weight = kernel.buffers[std::size_t(b.buffer)];
    const AxisId sum = contract.axes[0];
    if (contract.axes.size() != 1 || b.strides.size() != 2 || contract.blocks >= 0 ||
        !stride_along(b.strides, sum).is_one() ||
        stride_along(b.strides, schedule.columns) != weight.shape[1])
        throw InternalError("kernel " + kernel.name +
                            ": a weight of whole numbers is read otherwise than along its rows");
    const auto known = [](const Dim& dim) {
        return dim.is_static() ? "fixed<" + spell(dim).text + ">" : spell(dim).text;
    };
    const Dim row = schedule.rows < 0 ? Dim(1) : stride_along(a.strides, schedule.rows);
    return "quantized_rows<" + std::to_string(weight.storage.bits) + ", " +
           std::to_string(group_in_memory(weight)) + ">(" + start + ", " + known(row) + ", " +
           known(weight.shape[1]) + ", " + known(stride_along(a.strides, sum)) + ")";
}

}  // namespace fovea::emit
