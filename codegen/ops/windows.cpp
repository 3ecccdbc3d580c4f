// windows and sum_windows: float64 semantics, gradients, and sums of overlapping windows as sums
// over other windows.
#include "codegen/ops/windows.h"

#include "codegen/ops/array_loop.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/reduction.h"

namespace fovea {

Tensor sum_windows(Tensor x, int axis, const Dim& size, const WindowOptions& options) {
    if (x.dim(axis + 1).is_one() && options.stride == 1) return squeeze(x, axis + 1);
    Shape shape;
    for (int i = 0; i < x.rank(); ++i)
        if (i != axis + 1) shape.push(i == axis ? size.without_label() : x.shape()[i]);
    return make(*x.graph, {.op = Op::sum_windows,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .axis = axis,
                           .stride = options.stride,
                           .dilation = options.dilation});
}

namespace ops {

namespace {

WindowOptions options_of(const Node& node) { return {node.stride, node.dilation}; }
int window_of(const Node& windows) { return int(windows.shape[windows.axis + 1].value()); }

void windows_reference(const Evaluation& e, Array& result) {
    const Node& node = e.node();
    const Array& x = *e.inputs[0];
    const std::vector<std::int64_t> own = strides_of(x.shape);
    std::vector<std::int64_t> strides;
    for (int i = 0; i < int(own.size()); ++i) {
        const std::int64_t stride = own[std::size_t(i)];
        strides.push_back(i == node.axis ? stride * node.stride : stride);
        if (i == node.axis) strides.push_back(stride * node.dilation);
    }
    const std::int64_t covered = detail::covered_by(window_of(node), options_of(node));
    const std::int64_t extent = x.shape[std::size_t(node.axis)];
    // A gradient may have none: what is left of it where all of an axis was padding.
    if (covered > extent && e.shape[std::size_t(node.axis)] != 0)
        throw UserError("windows: a window covers " + std::to_string(covered) +
                        " positions, and its axis has " + std::to_string(extent));
    double* out = result.values.data();
    for_each_index(e.shape, {strides, {}, {}}, [&](std::int64_t at, std::int64_t, std::int64_t) {
        *out++ = x.values[std::size_t(at)];
    });
}

void windows_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    sink.add(0, sum_windows(dy, node.axis, sink.input(0).dim(node.axis), options_of(node)));
}

AxisUse windows_axis(const Graph&, const Node& node, int, int axis) {
    if (axis == node.axis) return {Along::moves};
    return {Along::maps, axis < node.axis ? axis : axis + 1};
}

Steps windows_steps(const Node& node) {
    return {
        .axis = node.axis,
        .first = Dim(0),
        .along = {{node.shape[node.axis], node.stride}, {node.shape[node.axis + 1], node.dilation}},
        .lowest = Dim(0),
        .size = detail::covered_by(window_of(node), options_of(node))};
}

Tensor windows_batch(const Batch& b) {
    const Node& node = b.node();
    return detail::windows_of(b.input(0), node.axis + b.axes, window_of(node), options_of(node),
                              node.location);
}
std::optional<std::string_view> why_no_windows_of_many(const Graph&, const Node& node,
                                                       std::uint64_t, int axes) {
    if (node.shape.rank() + axes > Shape::kMaxRank) return "a tensor has too few axes for it";
    return {};
}
Tensor windows_derive(const Derivation& d) {
    return detail::windows_of(d.inputs[0], d.node.axis, window_of(d.node), options_of(d.node),
                              d.node.location);
}
std::optional<std::string> why_no_windows(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.axis < 0 || node.axis + 1 >= node.shape.rank()) return "its axis is not there";
    const Dim& size = node.shape[node.axis + 1];
    if (!size.is_static() || size.value() < 1 || node.stride < 1 || node.dilation < 1)
        return "its windows have no size, stride or dilation";
    return {};
}
std::string windows_text(const Graph&, const Node& node) {
    std::string text = fmt::format("{} axis={}", row_of(node.op).name, node.axis);
    if (node.stride != 1) text += fmt::format(" stride={}", node.stride);
    if (node.dilation != 1) text += fmt::format(" dilation={}", node.dilation);
    return text;
}

void sum_windows_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    const int size = int(sink.input(0).dim(node.axis + 1).value());
    sink.add(0, detail::windows_of(dy, node.axis, size, options_of(node), node.location));
}

/// The first `size` positions of an axis, with zeros behind it where it has fewer.
Tensor fit(Tensor x, int axis, const Dim& size) {
    const Dim more = size.without_label() - x.dim(axis).without_label();
    return more.value() < 0 ? slice(x, axis, 0, size) : pad(x, axis, 0, more);
}

/// Windows whose elements lie apart as windows without gaps, which have zeros there.
Tensor without_dilation(Tensor x, int axis, int dilation) {
    const std::int64_t size = x.dim(axis).value();
    return slice(spread_out(x, axis, dilation), axis, 0, (size - 1) * dilation + 1);
}

/// At stride 1 position i has element j of window i - j * dilation, for all j. With zeros around
/// the windows, these elements are the same distance apart in memory, whatever i.
Tensor sum_neighbours(Tensor x, int axis, const Dim& size, int dilation) {
    const std::int64_t width = x.dim(axis + 1).value(), reach = (width - 1) * dilation;
    Tensor padded = pad(x, axis, reach, size - x.dim(axis));
    Tensor flat = merge_with_next(padded, axis);
    const std::int64_t apart = width * dilation - 1;
    const Dim length = (size - Dim(1)) * Dim(width) + Dim((width - 1) * apart + 1);
    Tensor needed = slice(flat, axis, width - 1, length);
    Tensor meeting = detail::windows_of(
        needed, axis, int(width), {.stride = int(width), .dilation = int(apart)}, Location::here());
    return sum(meeting, axis + 1);
}

/// At a stride that is less than a window's size, parts of as many elements as the stride stand
/// beside each other, and each window has one part of so many.
Tensor sum_parts(Tensor x, int axis, const Dim& size, int stride) {
    const std::int64_t width = x.dim(axis + 1).value(), parts = (width + stride - 1) / stride;
    x = pad(x, axis + 1, 0, parts * stride - width);
    Tensor total;
    for (std::int64_t part = 0; part < parts; ++part) {
        Tensor row = merge_with_next(slice(x, axis + 1, part * stride, stride), axis);
        row = pad(row, axis, part * stride, (parts - 1 - part) * stride);
        total = total.exists() ? total + row : row;
    }
    return fit(total, axis, size);
}

Tensor sum_windows_expand(const Expansion& e) {
    const Node& node = e.node();
    Tensor x = e.inputs[0];
    const Dim size = node.shape[node.axis].without_label();
    if (node.stride == 1) return sum_neighbours(x, node.axis, size, node.dilation);
    if (node.dilation > 1) x = without_dilation(x, node.axis + 1, node.dilation);
    return sum_parts(x, node.axis, size, node.stride);
}

Tensor sum_windows_batch(const Batch& b) {
    const Node& node = b.node();
    return sum_windows(b.input(0), node.axis + b.axes, node.shape[node.axis], options_of(node));
}
std::optional<std::string_view> why_no_sum_windows_of_many(const Graph&, const Node& node,
                                                           std::uint64_t, int axes) {
    if (node.shape.rank() + 1 + axes > Shape::kMaxRank) return "a tensor has too few axes for it";
    return {};
}
AxisUse sum_windows_axis(const Graph&, const Node& node, int operand, int axis) {
    const int windows = operand == kOfResult ? node.axis : node.axis + 1;
    if (axis >= node.axis && axis <= windows) return {Along::mixes};
    return {Along::maps, axis > windows && operand != kOfResult ? axis - 1 : axis};
}
Tensor sum_windows_derive(const Derivation& d) {
    return sum_windows(d.inputs[0], d.node.axis, d.node.shape[d.node.axis], options_of(d.node));
}
std::optional<std::string> why_no_sum_windows(const Graph& graph, int id) {
    const Node& node = graph[id];
    const Shape& x = graph[node.inputs[0]].shape;
    if (node.axis < 0 || node.axis + 1 >= x.rank()) return "its axes are not there";
    const Dim& size = x[node.axis + 1];
    if (!size.is_static() || size.value() < 1 || node.stride < 1 || node.dilation < 1)
        return "its windows have no size, stride or dilation";
    const std::int64_t covered = detail::covered_by(int(size.value()), options_of(node));
    const Dim positions = detail::count_windows(node.shape[node.axis], covered, node.stride);
    if (!(positions == x[node.axis])) return "its axis has another number of windows";
    return {};
}

}  // namespace

OpDef windows_def() {
    return {.op = Op::windows,
            .inputs = {1, 1},
            .copied = 1,
            .reference = windows_reference,
            .gradient = windows_gradient,
            .axis = windows_axis,
            .steps = windows_steps,
            .batch = windows_batch,
            .why_not_batch = why_no_windows_of_many,
            .derive = windows_derive,
            .why_not_derivable = why_no_windows,
            .text = windows_text};
}

OpDef sum_windows_def() {
    return {.op = Op::sum_windows,
            .inputs = {1, 1},
            .gradient = sum_windows_gradient,
            .expand = sum_windows_expand,
            .axis = sum_windows_axis,
            .batch = sum_windows_batch,
            .why_not_batch = why_no_sum_windows_of_many,
            .derive = sum_windows_derive,
            .why_not_derivable = why_no_sum_windows,
            .text = windows_text};
}

}  // namespace ops
}  // namespace fovea
