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
    if (!missing) return x;
    RearrangeAxes dropped = detail::keep_axes(x.shape());
    for (int i = 0; i < missing; ++i) dropped.axis[std::size_t(i)] = 1;
    for (int i = 0; i < Shape::kMaxRank; ++i)
        dropped.output_group[std::size_t(i)] = i < shape.rank() ? 1 : -1;
    for (int i = 0; i < missing; ++i) dropped.input_group[std::size_t(i)] = 0;
    dropped.count = shape.rank();
    for (int i = 0; i < shape.rank(); ++i) {
        dropped.axis[std::size_t(i)] = x.shape()[missing + i];
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

}  // namespace

OpDef reduce_def() {
    return {.op = Op::reduce, .reference = reduce_reference, .gradient = reduce_gradient};
}

}  // namespace ops
}  // namespace fovea
