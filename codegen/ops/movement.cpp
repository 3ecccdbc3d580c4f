// rearrange, broadcast, slice and concat: float64 semantics and gradients.
#include "codegen/ops/movement.h"

#include "codegen/ops/array_loop.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"

namespace fovea {

Tensor merge_axes(Tensor x, int first) {
    RearrangeAxes axes = detail::keep_axes(x.shape());
    axes.output_group[std::size_t(first)] = (signed char)(x.rank() - first);
    for (int i = first + 1; i < Shape::kMaxRank; ++i) axes.output_group[std::size_t(i)] = -1;
    return rearrange(x, axes, Location::here());
}

Tensor split_axes(Tensor x, int first, const Shape& shape) {
    RearrangeAxes axes = detail::keep_axes(shape);
    axes.input_group[std::size_t(first)] = (signed char)(shape.rank() - first);
    for (int i = first + 1; i < Shape::kMaxRank; ++i) axes.input_group[std::size_t(i)] = -1;
    return rearrange(x, axes, Location::here());
}

namespace ops {

namespace {

void rearrange_reference(const Evaluation& e, Array& result) {
    const RearrangeAxes& axes = e.graph.rearranges[std::size_t(e.node().attribute)];
    std::vector<std::int64_t> sizes, from(std::size_t(axes.count), 1), shape, strides;
    for (int i = 0; i < axes.count; ++i) sizes.push_back(e.value(axes.axis[std::size_t(i)]));
    for (std::size_t i = sizes.size(); i-- > 1;) from[i - 1] = from[i] * sizes[i];
    for (int i = 0; i < axes.count; ++i) {
        shape.push_back(sizes[std::size_t(axes.order[std::size_t(i)])]);
        strides.push_back(from[std::size_t(axes.order[std::size_t(i)])]);
    }
    double* out = result.values.data();
    for_each_index(shape, {strides, {}, {}}, [&](std::int64_t at, std::int64_t, std::int64_t) {
        *out++ = e.inputs[0]->values[std::size_t(at)];
    });
}

void rearrange_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    RearrangeAxes axes = inverse(dy.graph->rearranges[std::size_t(node.attribute)]);
    sink.add(0, rearrange(dy, axes, node.location));
}

void broadcast_reference(const Evaluation& e, Array& result) {
    std::vector<std::int64_t> strides = broadcast_strides(*e.inputs[0], e.shape);
    double* out = result.values.data();
    for_each_index(e.shape, {strides, {}, {}}, [&](std::int64_t at, std::int64_t, std::int64_t) {
        *out++ = e.inputs[0]->values[std::size_t(at)];
    });
}

void broadcast_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, dy);
}

void slice_reference(const Evaluation& e, Array& result) {
    const Array& x = *e.inputs[0];
    std::vector<std::int64_t> strides = strides_of(x.shape);
    std::size_t axis = std::size_t(e.node().axis);
    std::int64_t first = e.value(e.node().dim), start = first * strides[axis];
    if (first < 0 || first + e.shape[axis] > x.shape[axis])
        throw UserError("slice: " + std::to_string(first) + " to " +
                        std::to_string(first + e.shape[axis]) + " of an axis of " +
                        std::to_string(x.shape[axis]));
    double* out = result.values.data();
    for_each_index(e.shape, {strides, {}, {}}, [&](std::int64_t at, std::int64_t, std::int64_t) {
        *out++ = x.values[std::size_t(start + at)];
    });
}

/// x with zeros before and after along an axis, to the size that it has in `shape`.
Tensor pad(Tensor x, int axis, const Dim& first, const Shape& shape) {
    Graph& graph = *x.graph;
    Shape before = shape, after = shape;
    before[axis] = first;
    after[axis] = shape[axis].without_label() - first - x.shape()[axis];
    DType type = x.dtype();
    if (!(before[axis] == Dim(0))) x = concat(full(graph, before, 0, type), x, axis);
    if (!(after[axis] == Dim(0))) x = concat(x, full(graph, after, 0, type), axis);
    return x;
}

void slice_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Shape shape = sink.input(0).shape();
    sink.add(0, pad(dy, node.axis, node.dim, shape));
}

void concat_reference(const Evaluation& e, Array& result) {
    std::vector<std::int64_t> strides = strides_of(e.shape);
    std::size_t axis = std::size_t(e.node().axis);
    std::int64_t start = 0;
    for (std::size_t k = 0; k < 2; ++k) {
        const Array& x = *e.inputs[k];
        const double* in = x.values.data();
        for_each_index(x.shape, {strides, {}, {}},
                       [&](std::int64_t at, std::int64_t, std::int64_t) {
                           result.values[std::size_t(start + at)] = *in++;
                       });
        start += x.shape[axis] * strides[axis];
    }
}

void concat_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    Dim first = sink.input(0).dim(node.axis), second = sink.input(1).dim(node.axis);
    if (sink.wants(0)) sink.add(0, slice(dy, node.axis, 0, first));
    if (sink.wants(1)) sink.add(1, slice(dy, node.axis, first, second));
}

}  // namespace

OpDef rearrange_def() {
    return {.op = Op::rearrange, .reference = rearrange_reference, .gradient = rearrange_gradient};
}
OpDef broadcast_def() {
    return {.op = Op::broadcast, .reference = broadcast_reference, .gradient = broadcast_gradient};
}
OpDef slice_def() {
    return {.op = Op::slice, .reference = slice_reference, .gradient = slice_gradient};
}
OpDef concat_def() {
    return {.op = Op::concat, .reference = concat_reference, .gradient = concat_gradient};
}

}  // namespace ops
}  // namespace fovea
