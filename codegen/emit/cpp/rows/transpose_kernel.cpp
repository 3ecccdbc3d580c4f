// Copies whose source and destination are contiguous along different axes: lane by lane they would
// be scalar loads, square by square they are vectors both ways.
#include <algorithm>

#include "codegen/emit/cpp/shared_loops.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/cpp/values.h"

namespace fovea::emit {

using namespace kernel;

namespace {

/// The axis along which an access is contiguous, or -1.
AxisId contiguous_axis(const Access& access) {
    for (const Stride& stride : access.strides)
        if (stride.stride.is_one() || stride.panel) return stride.axis;
    return -1;
}

bool lies_in_panels(const Access& access) {
    return std::any_of(access.strides.begin(), access.strides.end(),
                       [](const Stride& stride) { return stride.panel > 0; });
}

}  // namespace

bool write_transpose_kernel(const Kernel& kernel, const LoopNest& nest, Signature& signature,
                            Writer& writer) {
    if (nest.nodes.size() != 2 || nest.free.size() + nest.par.size() > 1) return false;
    const Load* load = as<Load>(kernel, nest.nodes[0]);
    const Store* store = as<Store>(kernel, nest.nodes[1]);
    if (!load || !store || store->accumulate) return false;
    if (load->access.row >= 0 || store->access.row >= 0) return false;
    const auto memory = [&](const Access& access) {
        return kernel.buffers[std::size_t(access.buffer)].dtype;
    };
    if (memory(load->access) != DType::f32 || !is_float(memory(store->access))) return false;
    const AxisId rows = contiguous_axis(load->access), columns = contiguous_axis(store->access);
    if (rows < 0 || columns < 0 || rows == columns) return false;
    if (stride_along(load->access.strides, columns) == Dim(0)) return false;

    std::vector<AxisId> axes;
    for (const auto* group : {&nest.each, &nest.par, &nest.free})
        for (AxisId axis : *group)
            if (axis != rows && axis != columns) axes.push_back(axis);
    // A panel is written from its start to its end.
    const bool to_panels = lies_in_panels(store->access);
    axes.insert(axes.end(), {to_panels ? columns : rows, to_panels ? rows : columns});
    std::vector<SharedLoop> loops;
    for (AxisId axis : axes) {
        const bool square = axis == rows || axis == columns;
        loops.push_back({signature.axis(axis), signature.extent(axis), square ? "kLanes" : ""});
    }
    open_shared_loops(loops, signature, writer);
    Values values(kernel, signature, writer);
    const auto lanes = [&](AxisId axis) {
        return "lanes_at(" + signature.axis(axis) + ", " + signature.extent(axis).text + ")";
    };
    const std::string copy = to_panels ? "copy_to_panel(" : "copy_transposed(";
    writer.line(copy + values.start(store->access).text + ", " +
                spell(stride_along(store->access.strides, rows)).text + ", " +
                values.start(load->access).text + ", " +
                spell(stride_along(load->access.strides, columns)).text + ", " + lanes(rows) +
                ", " + lanes(columns) + ");");
    writer.close();
    return true;
}

}  // namespace fovea::emit
