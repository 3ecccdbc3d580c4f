#include "codegen/emit/nvptx/contraction/contraction_boxes.h"

#include <algorithm>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/tensor_map.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

constexpr int kBoxSwizzle = 128;  // bytes

class Boxes {
  public:
    Boxes(const Kernel& kernel, const ContractionPlan& plan, const OperandPlan& operand,
          int tile_outer)
        : kernel_(kernel),
          plan_(plan),
          operand_(operand),
          access_(as<Load>(kernel, operand.load)->access),
          tile_outer_(tile_outer) {}

    std::optional<OperandBoxes> find() {
        const DType dtype = kernel_.buffers[std::size_t(access_.buffer)].dtype;
        const bool is_tf32 = plan_.factors == Factors::tf32;
        if (dtype != dtype_of(plan_.factors)) return std::nullopt;
        const int row = kBoxSwizzle / plan_.element_bytes();
        if (access_.row >= 0 || !has_plain_strides()) return std::nullopt;
        boxes_.map.buffer = access_.buffer;
        boxes_.map.offset = access_.offset;
        boxes_.map.swizzle = kBoxSwizzle;
        boxes_.map.rounds_to_tf32 = is_tf32;
        if (operand_.depth_inside) {
            add_depth(row);
            add(operand_.outer, tile_outer_);
        } else {
            add(operand_.outer, row);
            add_depth(plan_.tile_depth);
        }
        for (AxisId axis : other_depth_) add(axis, 1);
        for (const Stride& stride : access_.strides)
            if (contains(plan_.points, stride.axis)) add(stride.axis, 1);
        if (failed_ || why_not_tensor_map(kernel_, boxes_.map)) return std::nullopt;
        return boxes_;
    }

  private:
    static bool contains(const std::vector<AxisId>& axes, AxisId axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
    }

    const Stride* stride_along(AxisId axis) const {
        for (const Stride& stride : access_.strides)
            if (stride.axis == axis) return &stride;
        return nullptr;
    }
    const Dim& extent(AxisId axis) const { return kernel_.axes[std::size_t(axis)].extent; }

    /// One along each axis, all of them known to the plan, without panels.
    bool has_plain_strides() const {
        for (const Stride& stride : access_.strides) {
            if (stride.panel || stride_along(stride.axis) != &stride) return false;
            if (stride.axis != operand_.outer && !contains(plan_.contracted, stride.axis) &&
                !contains(plan_.points, stride.axis))
                return false;
        }
        return true;
    }

    void add(AxisId axis, int box) {
        const Stride* stride = stride_along(axis);
        if (!stride) {
            failed_ = true;
            return;
        }
        boxes_.map.axes.push_back(
            {extent(axis).without_label(), stride->stride.without_label(), box});
        boxes_.axes.push_back(axis);
    }

    /// The contracted axes are one where each goes on where the next one ends. Otherwise a tile
    /// must not reach over the end of the last one, and the others are axes of their own.
    void add_depth(int box) {
        const std::vector<AxisId>& axes = plan_.contracted;
        const Stride* last = stride_along(axes.back());
        if (!last) {
            failed_ = true;
            return;
        }
        Dim all = extent(axes.back()).without_label();
        bool is_one = true;
        for (std::size_t i = axes.size() - 1; i-- > 0;) {
            const Stride* stride = stride_along(axes[i]);
            is_one = is_one && stride && stride->stride == last->stride * all;
            if (is_one) all = all * extent(axes[i]).without_label();
        }
        if (is_one) {
            boxes_.map.axes.push_back({all, last->stride.without_label(), box});
            boxes_.axes.push_back(OperandBoxes::kDepth);
            return;
        }
        const Dim& inner = extent(axes.back());
        if (!inner.is_static() || inner.value() % plan_.tile_depth != 0) {
            failed_ = true;
            return;
        }
        add(axes.back(), box);
        other_depth_.assign(axes.begin(), axes.end() - 1);
    }

    const Kernel& kernel_;
    const ContractionPlan& plan_;
    const OperandPlan& operand_;
    const Access& access_;
    int tile_outer_;
    OperandBoxes boxes_;
    bool failed_ = false;
    std::vector<AxisId> other_depth_;  // contracted axes that are not yet in the map
};

}  // namespace

std::optional<OperandBoxes> find_boxes(const Kernel& kernel, const ContractionPlan& plan,
                                       const OperandPlan& operand, int tile_outer) {
    return Boxes(kernel, plan, operand, tile_outer).find();
}

}  // namespace fovea::emit::nvptx
