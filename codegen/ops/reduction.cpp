// Sums and maxima over axes, and summing back what was broadcast.
#include "codegen/ops/reduction.h"

#include <limits>

#include "codegen/ops/array_loop.h"
#include "codegen/ops/definitions.h"

namespace fovea {

Tensor sum_to(Tensor x, const Shape& shape) {
    int missing = x.rank() - shape.rank(), axes = 0;
    if (missing < 0) throw InternalError("a gradient has fewer axes than its operand");
    for (int i = 0; i < x.rank(); ++i) {
        bool summed = i < missing || (shape[i - missing].is_one() && !x.shape()[i].is_one());
        if (summed && !x.shape()[i].is_one()) axes |= 1 << i;
    }
    if (axes) x = reduce(Reduction::sum, x, axes);
    // An axis of size 1 may have been repeated to one of another name.
    const auto named = [&](int i) {
        const Dim& dim = x.shape()[missing + i];
        return dim == shape[i] ? shape[i] : dim;
    };
    bool as_named = true;
    for (int i = 0; i < shape.rank(); ++i) as_named &= named(i).fits(x.shape()[missing + i]);
    if (!missing && as_named) return x;
    RearrangeAxes dropped = detail::keep_axes(x.shape());
    for (int i = 0; i < missing; ++i) dropped.axis[std::size_t(i)] = 1;
    for (int i = 0; i < Shape::kMaxRank; ++i)
        dropped.output_group[std::size_t(i)] = i < shape.rank() ? 1 : -1;
    for (int i = 0; i < missing; ++i) dropped.input_group[std::size_t(i)] = 0;
    dropped.count = shape.rank();
    for (int i = 0; i < shape.rank(); ++i) {
        dropped.axis[std::size_t(i)] = named(i);
        dropped.order[std::size_t(i)] = (signed char)i;
    }
    return rearrange(x, dropped, Location::here());
}

namespace ops {

namespace {

void reduce_reference(const Evaluation& e, Array& result) {
    bool is_max = e.node().reduction == Reduction::max;
    double start = is_max ? -std::numeric_limits<double>::infinity() : 0;
    for (double& value : result.values) value = start;
    const Array& x = *e.inputs[0];
    std::vector<std::int64_t> own = strides_of(x.shape), to = broadcast_strides(result, x.shape);
    for_each_index(x.shape, {own, to, {}}, [&](std::int64_t from, std::int64_t into, std::int64_t) {
        double value = x.values[std::size_t(from)], &total = result.values[std::size_t(into)];
        total = !is_max ? total + value : value > total || value != value ? value : total;
    });
}

/// Of a maximum: shared by those that are as large. A row with NaN has none, 0 / 0, as PyTorch's.
void reduce_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor x = sink.input(0);
    Shape shape = x.shape();
    if (node.reduction == Reduction::sum) return sink.add(0, broadcast(dy, shape));
    Tensor taken = eq(x, y);
    Tensor is_taken = cast(taken, x.dtype());
    Tensor share = dy / reduce(Reduction::sum, is_taken, node.axis);
    sink.add(0, share * is_taken);
}

AxisUse reduce_axis(const Graph&, const Node& node, int, int axis) {
    return node.axis >> axis & 1 ? AxisUse{Along::reduces} : AxisUse{Along::maps, axis};
}
Tensor reduce_batch(const Batch& b) {
    return reduce(b.node().reduction, b.input(0), b.node().axis << b.axes);
}
Tensor reduce_derive(const Derivation& d) {
    return reduce(d.node.reduction, d.inputs[0], d.node.axis);
}
std::optional<std::string> why_no_reduce(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.axis <= 0 || node.axis >= 1 << node.shape.rank())
        return "it reduces axes that are not there";
    return {};
}
std::string reduce_text(const Graph&, const Node& node) {
    std::string axes;
    for (int i = 0; i < Shape::kMaxRank; ++i)
        if (node.axis >> i & 1) axes += (axes.empty() ? "" : ",") + std::to_string(i);
    return fmt::format("{} axes={}", node.reduction == Reduction::sum ? "sum" : "max", axes);
}

}  // namespace

OpDef reduce_def() {
    return {.op = Op::reduce,
            .inputs = {1, 1},
            .cost = Cost::sums,
            .reference = reduce_reference,
            .gradient = reduce_gradient,
            .axis = reduce_axis,
            .batch = reduce_batch,
            .derive = reduce_derive,
            .why_not_derivable = why_no_reduce,
            .text = reduce_text};
}

}  // namespace ops
}  // namespace fovea
