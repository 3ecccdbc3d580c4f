#include "codegen/emit/nvptx/contraction/check_schedule.h"

#include <fmt/format.h>

#include "codegen/base/error.h"

namespace fovea::emit::nvptx {

namespace {

constexpr int kRegistersOfMultiprocessor = 65536;

void check_copies(const kernel::Kernel& kernel, const ContractionPlan& plan,
                  const OperandPlan& operand, int outer) {
    const int pieces = outer * plan.tile_depth / (operand.width * operand.across);
    const int along_depth = plan.tile_depth / (operand.depth_inside ? operand.width : 1);
    const int along_outer = outer / (operand.depth_inside ? operand.across : operand.width);
    const int neighbours = operand.depth_first ? along_depth : along_outer;
    if (pieces % plan.threads == 0 && plan.threads % neighbours == 0) return;
    throw UserError(fmt::format(
        "the schedule cannot be kept by kernel {}: {} threads cannot share the copies of a tile of "
        "{} x {} elements; change gpu.contraction.tile, depth or depth_bytes",
        kernel.name, plan.threads, outer, plan.tile_depth));
}

}  // namespace

void check_schedule(const kernel::Kernel& kernel, const ContractionPlan& plan) {
    if (plan.form == ContractionForm::vector) return;
    const target::GpuContraction& target = plan.settings.target.contraction;
    if (plan.copies_boxes())
        return check_registers(kernel, target.copying_registers, target.multiplying_registers,
                               "gpu.contraction.copying_registers and multiplying_registers");
    check_copies(kernel, plan, plan.a, plan.tile_rows);
    check_copies(kernel, plan, plan.b, plan.loaded_columns());
}

void check_shared_bytes(const kernel::Kernel& kernel, int bytes, const target::Gpu& target,
                        const std::string& fields) {
    if (bytes <= target.most_shared_bytes) return;
    throw UserError(fmt::format(
        "the schedule cannot be kept by kernel {}: a block would take {} bytes of shared memory, "
        "and {} gives it {} at most; change {}",
        kernel.name, bytes, target.architecture, target.most_shared_bytes, fields));
}

void check_registers(const kernel::Kernel& kernel, int fewer, int more, const std::string& fields) {
    const int all = 128 * fewer + 256 * more;
    if (all <= kRegistersOfMultiprocessor) return;
    throw UserError(fmt::format(
        "the schedule cannot be kept by kernel {}: its threads would have {} registers, and a "
        "multiprocessor has {}; change {}",
        kernel.name, all, kRegistersOfMultiprocessor, fields));
}

}  // namespace fovea::emit::nvptx
