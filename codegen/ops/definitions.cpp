// What the definitions of several ops share.
#include "codegen/ops/definitions.h"

#include "codegen/ops/movement.h"

namespace fovea::ops {

AxisUse aligned_axis(const Graph& graph, const Node& node, int operand, int axis) {
    if (operand == kOfResult) return {Along::maps, axis};
    const int own = graph[node.inputs[std::size_t(operand)]].shape.rank();
    return {Along::maps, axis + node.shape.rank() - own};
}

AxisUse all_but_axis(const Graph&, const Node& node, int, int axis) {
    return axis == node.axis ? AxisUse{Along::moves} : AxisUse{Along::maps, axis};
}

Tensor aligned(const Batch& batch, int i, int rank) {
    Tensor x = batch.input(i);
    if (!batch.along(i)) return x;
    while (x.rank() < batch.axes + rank) x = unsqueeze(x, batch.axes);
    return x;
}

Tensor with_front(const Batch& batch, int i) {
    Tensor x = batch.input(i);
    for (int k = 0; !batch.along(i) && k < batch.axes; ++k) x = unsqueeze(x, 0);
    return x;
}

std::optional<std::string> why_no_axis(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.axis < 0 || node.axis >= node.shape.rank()) return "its axis is not there";
    return {};
}

std::string axis_text(const Graph&, const Node& node) {
    return fmt::format("{} axis={}", row_of(node.op).name, node.axis);
}

std::string first_text(const Graph&, const Node& node) {
    return fmt::format("{} axis={} first={}", row_of(node.op).name, node.axis, dim_text(node.dim));
}

std::optional<std::string> why_no_site(const Graph& graph, int id) {
    const int site = graph[id].site;
    if (site < 0 || site >= graph.sites) return "its site does not exist";
    return {};
}

std::string site_text(const Graph&, const Node& node) {
    return fmt::format("{} p={} site={}", row_of(node.op).name, number_text(node.value), node.site);
}

}  // namespace fovea::ops
