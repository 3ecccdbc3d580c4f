#include "tools/fovea/compare/count_bytes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool {

namespace {

using kernel::Access;
using kernel::Kernel;

void add_axes(const Kernel& kernel, const Access& access, std::set<kernel::AxisId>& axes);

/// The axes that the value of a tile depends on, loops around it included.
void add_axes(const Kernel& kernel, kernel::Id tile, std::set<kernel::AxisId>& axes) {
    if (const auto* load = kernel::as<kernel::Load>(kernel, tile))
        return add_axes(kernel, load->access, axes);
    if (const auto* index = kernel::as<kernel::Index>(kernel, tile)) axes.insert(index->axis);
    for (kernel::Id operand : kernel::operands_of(kernel, tile)) add_axes(kernel, operand, axes);
}

void add_axes(const Kernel& kernel, const Access& access, std::set<kernel::AxisId>& axes) {
    for (const kernel::Stride& stride : access.strides) axes.insert(stride.axis);
    if (access.row >= 0) add_axes(kernel, access.row, axes);
}

double elements_of_dims(const std::vector<Dim>& shape, const SampleDims& dims) {
    double count = 1;
    for (const Dim& dim : shape) count *= double(value_of(dim, dims));
    return count;
}

/// Elements of its buffer that an access touches: at most one for each position of its axes.
double touched(const Kernel& kernel, const Access& access, const SampleDims& dims) {
    std::set<kernel::AxisId> axes;
    add_axes(kernel, access, axes);
    double positions = 1;
    for (kernel::AxisId axis : axes)
        positions *= double(value_of(kernel.axes[std::size_t(axis)].extent, dims));
    return std::min(positions,
                    elements_of_dims(kernel.buffers[std::size_t(access.buffer)].shape, dims));
}

}  // namespace

double bytes_moved(const Kernel& kernel, const SampleDims& dims) {
    std::vector<double> read(kernel.buffers.size(), 0), written(kernel.buffers.size(), 0);
    auto note = [&](std::vector<double>& elements, const Access& access) {
        double& most = elements[std::size_t(access.buffer)];
        most = std::max(most, touched(kernel, access, dims));
    };
    for (const kernel::Node& node : kernel.nodes) {
        if (const auto* load = std::get_if<kernel::Load>(&node.operation)) note(read, load->access);
        if (const auto* store = std::get_if<kernel::Store>(&node.operation)) {
            note(written, store->access);
            if (store->accumulate) note(read, store->access);
        }
    }
    double bytes = 0;
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
        bytes += double(size_of(kernel.buffers[b].dtype)) * (read[b] + written[b]);
    return bytes;
}

double bytes_moved(const plan::Model& model, const plan::Program& program, const SampleDims& dims) {
    double bytes = 0;
    for (const plan::Step& step : program.steps)
        bytes += bytes_moved(model.kernels[std::size_t(step.kernel)], dims);
    return bytes;
}

}  // namespace fovea::tool
