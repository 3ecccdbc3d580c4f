// Sinusoidal positions from plain ops.
#include "codegen/ops/sinusoids.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea::ops {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLogBase = 9.2103403719761827;  // log 10000

/// Column 2i holds sin(t / 10000^(2i / width)), column 2i + 1 the cosine of the same.
Tensor sinusoids_expand(const Expansion& e) {
    const Node& node = e.node();
    Shape shape = node.shape;
    int rank = shape.rank();
    Tensor positions = e.inputs[0];
    if (!positions.exists()) positions = iota(e.target, {shape[0], 1}, 0);
    else positions = unsqueeze(positions, positions.rank());
    Shape row;
    for (int i = 0; i < rank; ++i) row.push(i == rank - 1 ? shape[i] : Dim(1));
    Tensor column = cast(iota(e.target, row, rank - 1), f32);
    // cos(π column) is 1 in even columns and -1 in odd ones.
    Tensor is_even = cos(column * kPi) > 0.0;
    Tensor twice = column - where(is_even, 0.0, 1.0);
    Tensor frequency = exp(twice * -kLogBase / shape[-1].without_label());
    Tensor angle = cast(positions, f32) * frequency;
    Tensor sine = sin(angle), cosine = cos(angle);
    return cast(where(is_even, sine, cosine), node.dtype);
}

Tensor sinusoids_derive(const Derivation& d) {
    const Shape& shape = d.node.shape;
    const Tensor y = d.inputs[0].exists() ? sinusoids_at(d.inputs[0], shape[-1])
                                          : sinusoids(d.target, shape[0], shape[1]);
    return cast(y, d.node.dtype);
}
Tensor sinusoids_batch(const Batch& b) {
    return cast(sinusoids_at(b.input(0), b.node().shape[-1]), b.node().dtype);
}
std::optional<std::string> why_no_sinusoids(const Graph& graph, int id) {
    if (graph[id].inputs[0] < 0 && graph[id].shape.rank() != 2) return "it must have two axes";
    return {};
}

/// A row is that of its position; columns differ.
AxisUse sinusoids_axis(const Graph&, const Node& node, int operand, int axis) {
    const bool is_position = node.inputs[0] > 0 && axis < node.shape.rank() - 1;
    return operand == 0 || is_position ? AxisUse{Along::maps, axis} : AxisUse{};
}

}  // namespace

OpDef sinusoids_def() {
    return {.op = Op::sinusoids,
            .inputs = {0, 1},
            .expand = sinusoids_expand,
            .axis = sinusoids_axis,
            .batch = sinusoids_batch,
            .derive = sinusoids_derive,
            .why_not_derivable = why_no_sinusoids};
}

}  // namespace fovea::ops
