// concat and pad: float64 semantics and gradients.
#include "codegen/ops/concat.h"

#include "codegen/ops/array_loop.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"

namespace fovea::ops {

namespace {

void concat_reference(const Evaluation& e, Array& result) {
    std::vector<std::int64_t> strides = strides_of(e.shape);
    std::size_t axis = std::size_t(e.node().axis);
    std::int64_t start = 0;
    for (const Array* part : e.inputs) {
        if (!part) break;
        const Array& x = *part;
        const double* in = x.values.data();
        for_each_index(x.shape, {strides, {}, {}},
                       [&](std::int64_t at, std::int64_t, std::int64_t) {
                           result.values[std::size_t(start + at)] = *in++;
                       });
        start += x.shape[axis] * strides[axis];
    }
}

void concat_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    Dim first(0);
    for (int i = 0; i < int(kMaxInputs) && node.inputs[std::size_t(i)] > 0; ++i) {
        const Dim size = sink.input(i).dim(node.axis);
        if (sink.wants(i)) sink.add(i, slice(dy, node.axis, first, size));
        first = first + size;
    }
}

/// Of a sum of such gradients `merge_pads` makes one value.
void pad_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, slice(dy, node.axis, node.dim, sink.input(0).dim(node.axis)));
}
Tensor pad_expand(const Expansion& e) {
    const Node& node = e.node();
    const Tensor x = e.inputs[0];
    const Dim after = node.shape[node.axis] - node.dim - x.dim(node.axis);
    std::vector<Tensor> parts;
    const auto add_zeros = [&](const Dim& size) {
        if (size == Dim(0)) return;
        Shape shape = node.shape;
        shape[node.axis] = size;
        parts.push_back(full(e.target, shape, 0, node.dtype));
    };
    add_zeros(node.dim);
    parts.push_back(x);
    add_zeros(after);
    return concat(parts, node.axis);
}

/// The parts as they are given, so many as there are.
template <class PartOf>
std::vector<Tensor> parts_of(const Node& node, PartOf&& part_of) {
    std::vector<Tensor> parts;
    for (int i = 0; i < int(kMaxInputs) && node.inputs[std::size_t(i)] > 0; ++i)
        parts.push_back(part_of(i));
    return parts;
}
Tensor concat_batch(const Batch& b) {
    std::vector<Tensor> parts = parts_of(b.node(), [&](int i) { return with_front(b, i); });
    for (int k = 0; k < b.axes; ++k) {
        Dim size(1);
        for (Tensor part : parts)
            if (size.is_one()) size = part.shape()[k];
        for (Tensor& part : parts) {
            Shape shape = part.shape();
            shape[k] = size;
            part = broadcast(part, shape);
        }
    }
    return concat(parts, b.node().axis + b.axes, b.node().location);
}
Tensor concat_derive(const Derivation& d) {
    return concat(parts_of(d.node, [&](int i) { return d.inputs[std::size_t(i)]; }), d.node.axis);
}

Tensor pad_batch(const Batch& b) {
    const Node& node = b.node();
    const Tensor x = b.input(0);
    const int axis = node.axis + b.axes;
    return pad(x, axis, node.dim, node.shape[node.axis] - node.dim - x.dim(axis), node.location);
}
Tensor pad_derive(const Derivation& d) {
    const int axis = d.node.axis;
    return pad(d.inputs[0], axis, d.node.dim,
               d.node.shape[axis] - d.node.dim - d.inputs[0].dim(axis));
}

}  // namespace

OpDef concat_def() {
    return {.op = Op::concat,
            .inputs = {2, int(kMaxInputs)},
            .copied = int(kMaxInputs),
            .reference = concat_reference,
            .gradient = concat_gradient,
            .axis = all_but_axis,
            .batch = concat_batch,
            .derive = concat_derive,
            .why_not_derivable = why_no_axis,
            .text = axis_text};
}

OpDef pad_def() {
    return {.op = Op::pad,
            .inputs = {1, 1},
            .gradient = pad_gradient,
            .expand = pad_expand,
            .axis = all_but_axis,
            .batch = pad_batch,
            .derive = pad_derive,
            .why_not_derivable = why_no_axis,
            .text = first_text};
}

}  // namespace fovea::ops
