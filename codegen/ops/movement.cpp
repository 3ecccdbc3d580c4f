// rearrange, broadcast and slice: float64 semantics and gradients.
#include "codegen/ops/movement.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/ops/array_loop.h"
#include "codegen/ops/concat.h"
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

Tensor merge_with_next(Tensor x, int axis) {
    RearrangeAxes axes = detail::keep_axes(x.shape());
    axes.output_group.fill(-1);
    for (int i = 0; i + 1 < x.rank(); ++i) axes.output_group[std::size_t(i)] = i == axis ? 2 : 1;
    return rearrange(x, axes, Location::here());
}

Tensor split_axis(Tensor x, int axis, const Dim& outer, const Dim& inner) {
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
        shape.push(i == axis ? outer : x.shape()[i]);
        if (i == axis) shape.push(inner);
    }
    RearrangeAxes axes = detail::keep_axes(shape);
    axes.input_group.fill(-1);
    for (int i = 0; i < x.rank(); ++i) axes.input_group[std::size_t(i)] = i == axis ? 2 : 1;
    return rearrange(x, axes, Location::here());
}

Tensor spread_out(Tensor x, int axis, int step) {
    if (step == 1) return x;
    if (x.rank() == Shape::kMaxRank) {  // two other axes make room for one more
        const int merged = axis >= 2 ? 0 : axis + 1;
        const Dim outer = x.dim(merged), inner = x.dim(merged + 1);
        Tensor wide = spread_out(merge_with_next(x, merged), axis >= 2 ? axis - 1 : axis, step);
        return split_axis(wide, merged, outer, inner);
    }
    return merge_with_next(pad(unsqueeze(x, axis + 1), axis + 1, 0, step - 1), axis);
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
    const std::int64_t first = e.value(e.node().dim), start = first * strides[axis];
    const std::int64_t step = e.node().stride, size = e.shape[axis];
    const std::int64_t last = size > 0 ? first + (size - 1) * step : first - 1;
    if (std::min(first, last + 1) < 0 || std::max(first - 1, last) >= x.shape[axis])
        throw UserError("slice: " + std::to_string(size) + " positions from " +
                        std::to_string(first) + " on of an axis of " +
                        std::to_string(x.shape[axis]) +
                        (step == 1 ? "" : ", " + std::to_string(step) + " apart"));
    strides[axis] *= step;
    double* out = result.values.data();
    for_each_index(e.shape, {strides, {}, {}}, [&](std::int64_t at, std::int64_t, std::int64_t) {
        *out++ = x.values[std::size_t(start + at)];
    });
}

void slice_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    const Dim whole = sink.input(0).dim(node.axis).without_label();
    const Dim size = dy.dim(node.axis).without_label();
    Dim first = node.dim;
    const int step = std::abs(node.stride);
    if (node.stride < 0) {
        const Dim last = size - Dim(1);
        dy = detail::slice_in_steps(dy, node.axis, last, size, -1, node.location);
        first = first - last * Dim(step);
    }
    if (step == 1) return sink.add(0, pad(dy, node.axis, first, whole - first - size));
    // The zeros behind the last position may reach past the axis.
    const Dim taken = size * Dim(step), room = whole + Dim(step - 1);
    Tensor apart = pad(spread_out(dy, node.axis, step), node.axis, first, room - first - taken);
    sink.add(0, slice(apart, node.axis, 0, whole));
}

Steps slice_steps(const Node& node) {
    const Dim size = node.shape[node.axis].without_label(), length = (size - Dim(1)) * node.stride;
    const Dim reach = length * Dim(node.stride < 0 ? -1 : 1) + Dim(1);
    return {.axis = node.axis,
            .first = node.dim,
            .along = {{size, node.stride}},
            .lowest = node.stride < 0 ? node.dim + length : node.dim,
            .size = size.is_zero() ? size : reach};
}
std::string slice_text(const Graph& graph, const Node& node) {
    const std::string text = first_text(graph, node);
    return node.stride == 1 ? text : fmt::format("{} step={}", text, node.stride);
}
std::optional<std::string> why_no_slice(const Graph& graph, int id) {
    if (graph[id].stride == 0) return "its step is 0";
    return why_no_axis(graph, id);
}

const RearrangeAxes& rearrangement_of(const Graph& graph, const Node& node) {
    return graph.rearranges[std::size_t(node.attribute)];
}
/// The axes before elementary axis `count` of a list of groups, and whether that is one by itself.
std::pair<int, bool> group_of(const FixedArray<signed char, Shape::kMaxRank>& groups, int count) {
    int g = 0;
    for (; count >= groups[std::size_t(g)]; ++g) count -= groups[std::size_t(g)];
    return {g, groups[std::size_t(g)] == 1};
}

/// An axis that stays whole maps, wherever it comes to stand.
AxisUse rearrange_axis(const Graph& graph, const Node& node, int, int axis) {
    const RearrangeAxes& axes = rearrangement_of(graph, node);
    if (axes.input_group[std::size_t(axis)] != 1) return {Along::moves};
    int at = 0, place = 0;
    for (int i = 0; i < axis; ++i) at += axes.input_group[std::size_t(i)];
    while (axes.order[std::size_t(place)] != at) ++place;
    const auto [to, alone] = group_of(axes.output_group, place);
    return alone ? AxisUse{Along::maps, to} : AxisUse{Along::moves};
}
Tensor rearrange_batch(const Batch& b) {
    const RearrangeAxes& own = rearrangement_of(b.source, b.node());
    RearrangeAxes axes;
    axes.count = own.count + b.axes;
    axes.input_group.fill(-1);
    axes.output_group.fill(-1);
    for (int i = 0; i < b.axes; ++i) {
        axes.axis[std::size_t(i)] = b.input(0).shape()[i];
        axes.order[std::size_t(i)] = (signed char)i;
        axes.input_group[std::size_t(i)] = axes.output_group[std::size_t(i)] = 1;
    }
    for (int i = 0; i < own.count; ++i) {
        axes.axis[std::size_t(b.axes + i)] = own.axis[std::size_t(i)];
        axes.order[std::size_t(b.axes + i)] = (signed char)(own.order[std::size_t(i)] + b.axes);
    }
    for (int i = 0; i + b.axes < Shape::kMaxRank; ++i) {
        axes.input_group[std::size_t(b.axes + i)] = own.input_group[std::size_t(i)];
        axes.output_group[std::size_t(b.axes + i)] = own.output_group[std::size_t(i)];
    }
    return rearrange(b.input(0), axes, b.node().location);
}
std::optional<std::string_view> why_no_rearrange_of_many(const Graph& graph, const Node& node,
                                                         std::uint64_t, int axes) {
    if (rearrangement_of(graph, node).count + axes > RearrangeAxes::kMax)
        return "the pattern has too many axes";
    return {};
}
Tensor rearrange_derive(const Derivation& d) {
    return rearrange(d.inputs[0], rearrangement_of(d.source, d.node), d.node.location);
}
/// The elementary axes make up the input's axes, and each stands once in the output.
std::optional<std::string> why_no_rearrange(const Graph& graph, int id) {
    const RearrangeAxes& axes = rearrangement_of(graph, graph[id]);
    const Shape& x = graph[graph[id].inputs[0]].shape;
    int at = 0, out = 0;
    for (int g = 0; g < Shape::kMaxRank; ++g) {
        int size = axes.input_group[std::size_t(g)];
        if ((size >= 0) != (g < x.rank())) return "its groups are not its input's axes";
        Dim product(1);
        for (int i = 0; i < size; ++i) product = product * axes.axis[std::size_t(at++)];
        if (size >= 0 && !(product == x[g])) return "a group does not make up its axis";
    }
    for (int g = 0; g < Shape::kMaxRank && axes.output_group[std::size_t(g)] >= 0; ++g)
        out += axes.output_group[std::size_t(g)];
    if (at != axes.count || out != axes.count) return "its groups do not hold all axes";
    int seen = 0;
    for (int i = 0; i < axes.count; ++i) seen |= 1 << axes.order[std::size_t(i)];
    if (seen != (1 << axes.count) - 1) return "its order is not a permutation";
    return {};
}
std::string rearrange_text(const Graph& graph, const Node& node) {
    return "rearrange '" + print_axes(rearrangement_of(graph, node)) + "'";
}

Tensor broadcast_batch(const Batch& b) {
    const Shape& own = b.node().shape;
    Tensor x = aligned(b, 0, own.rank());
    Shape shape = x.shape();
    for (int i = 0; i < own.rank(); ++i) shape[b.axes + i] = own[i];
    return broadcast(x, shape);
}
std::optional<std::string> why_no_broadcast(const Graph& graph, int id) {
    const Shape &from = graph[graph[id].inputs[0]].shape, &to = graph[id].shape;
    if (from.rank() > to.rank()) return "it has fewer axes than its input";
    for (int i = 1; i <= from.rank(); ++i)
        if (!(from[-i] == to[-i]) && !from[-i].is_one()) return "it does not repeat axes of size 1";
    return {};
}

Tensor slice_batch(const Batch& b) {
    const Node& node = b.node();
    return detail::slice_in_steps(b.input(0), node.axis + b.axes, node.dim, node.shape[node.axis],
                                  node.stride, node.location);
}
Tensor slice_derive(const Derivation& d) {
    const Node& node = d.node;
    const Dim& size = node.shape[node.axis];
    if (node.stride < 0)
        return detail::slice_in_steps(d.inputs[0], node.axis, node.dim, size, node.stride,
                                      node.location);
    return slice(d.inputs[0], node.axis, node.dim, size, node.stride, node.location);
}
}  // namespace

OpDef rearrange_def() {
    return {.op = Op::rearrange,
            .inputs = {1, 1},
            .attribute = Attribute::rearrange,
            .copied = 1,
            .reference = rearrange_reference,
            .gradient = rearrange_gradient,
            .axis = rearrange_axis,
            .batch = rearrange_batch,
            .why_not_batch = why_no_rearrange_of_many,
            .derive = rearrange_derive,
            .why_not_derivable = why_no_rearrange,
            .text = rearrange_text};
}
OpDef broadcast_def() {
    return {.op = Op::broadcast,
            .inputs = {1, 1},
            .cost = Cost::none,
            .copied = 1,
            .reference = broadcast_reference,
            .gradient = broadcast_gradient,
            .axis = aligned_axis,
            .batch = broadcast_batch,
            .why_not_derivable = why_no_broadcast};
}
OpDef slice_def() {
    return {.op = Op::slice,
            .inputs = {1, 1},
            .copied = 1,
            .reference = slice_reference,
            .gradient = slice_gradient,
            .axis = all_but_axis,
            .steps = slice_steps,
            .batch = slice_batch,
            .derive = slice_derive,
            .why_not_derivable = why_no_slice,
            .text = slice_text};
}
}  // namespace ops
}  // namespace fovea
