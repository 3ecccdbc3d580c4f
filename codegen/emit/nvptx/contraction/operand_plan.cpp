// How the operands of contractions come into shared memory.
#include "codegen/emit/nvptx/contraction/operand_plan.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

/// Elements along the depth of which a thread exchanges pairs: 16 bytes in shared memory.
constexpr int kPairedDepth = 8;

DType dtype_of(const Kernel& kernel, Id load) {
    return kernel.buffers[std::size_t(as<Load>(kernel, load)->access.buffer)].dtype;
}

/// How many neighbours along the axis are neighbours in memory; 1 where the next one is elsewhere.
Dim run_along(const Kernel& kernel, const Access& access, AxisId axis) {
    const Stride* stride = stride_along(access, axis);
    if (!stride) return 1;
    if (stride->panel) return stride->step == 1 ? stride->panel : 1;
    return stride->stride.is_one() ? kernel.axes[std::size_t(axis)].extent.without_label() : Dim(1);
}

}  // namespace

const Stride* stride_along(const Access& access, AxisId axis) {
    const Stride* found = nullptr;
    for (const Stride& stride : access.strides) {
        if (stride.axis != axis) continue;
        if (found) return nullptr;
        found = &stride;
    }
    return found;
}

bool lies_in_groups(const Kernel& kernel, const Access& access, AxisId axis, int width) {
    const Dim by(width);
    if (!run_along(kernel, access, axis).divisible_by(by)) return false;
    if (!kernel.axes[std::size_t(axis)].extent.divisible_by(by) || !access.offset.divisible_by(by))
        return false;
    if (access.row >= 0 && !access.row_stride.divisible_by(by)) return false;
    for (const Stride& stride : access.strides) {
        const bool along = stride.axis == axis;
        if ((!along || stride.panel) && !stride.stride.divisible_by(by)) return false;
        if (!along && stride.panel && stride.step % width != 0) return false;
    }
    return true;
}

namespace {

/// The widest group of at most 16 bytes.
int group_width(const Kernel& kernel, Id load, AxisId axis) {
    const Access& access = as<Load>(kernel, load)->access;
    for (int width = is_half(dtype_of(kernel, load)) ? 8 : 4; width > 1; width /= 2)
        if (lies_in_groups(kernel, access, axis, width)) return width;
    return 1;
}

/// Whether pairs along the depth lie beside those of the next positions along the outer axis, and
/// any four of these can be read at once.
bool lies_in_pairs(const Kernel& kernel, const Access& access, AxisId outer, AxisId depth) {
    const Dim eight(8);
    const Stride *along = stride_along(access, depth), *across = stride_along(access, outer);
    if (!along || along->panel != 2 || along->step != 1) return false;
    if (!across || across->panel % 4 != 0 || !across->panel || across->step != 2) return false;
    if (!kernel.axes[std::size_t(depth)].extent.divisible_by(Dim(2)) || access.row >= 0)
        return false;
    for (const Stride& stride : access.strides) {
        if (!stride.stride.divisible_by(eight)) return false;
        if (&stride != along && &stride != across && stride.panel) return false;
    }
    return access.offset.divisible_by(eight);
}

}  // namespace

OperandPlan plan_operand(const Kernel& kernel, const ContractionPlan& plan, Id load, AxisId outer) {
    const Access& access = as<Load>(kernel, load)->access;
    const AxisId depth = plan.contracted.back();
    const Dim depth_run = run_along(kernel, access, depth);
    const Dim outer_run = run_along(kernel, access, outer);
    OperandPlan operand{.load = load, .outer = outer};
    const bool is_short =
        depth_run.is_static() && depth_run.value() < plan.settings.target.contraction.short_run;
    operand.depth_first = !depth_run.is_one() && !is_short;
    const bool halves = is_half(dtype_of(kernel, load));
    if (plan.form == ContractionForm::scalar) {
        operand.asynchronous = !halves;
        if (plan.settings.aligned && !halves && !outer_run.is_one()) {
            operand.width = group_width(kernel, load, outer);
            if (operand.width < 4) operand.width = 1;
        }
        return operand;
    }
    operand.depth_inside = outer_run.is_one() || !depth_run.is_one();
    if (plan.factors == Factors::tf32) {
        // What lies in memory as halves is widened on its way.
        operand.asynchronous = !halves;
        if (plan.settings.aligned && !halves)
            operand.width = group_width(kernel, load, operand.depth_inside ? depth : outer);
        return operand;
    }
    if (halves && dtype_of(kernel, load) != dtype_of(plan.factors)) return operand;  // one by one
    if (plan.settings.aligned && halves && plan.contracted.size() == 1 &&
        lies_in_pairs(kernel, access, outer, depth)) {
        operand.in_pairs = operand.depth_first = true;
        operand.width = kPairedDepth;
        return operand;
    }
    if (plan.settings.aligned)
        operand.width = group_width(kernel, load, operand.depth_inside ? depth : outer);
    operand.asynchronous = halves && operand.width > 1;
    return operand;
}

}  // namespace fovea::emit::nvptx
