// Sinusoidal positions (Vaswani et al. 2017, section 3.5).
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// P [length, width]: P[t, 2i] = sin(t / 10000^(2i / width)), P[t, 2i+1] = cos of the same.
constexpr Tensor sinusoids(Graph& graph, const Dim& length, const Dim& width,
                           Location location = Location::here()) {
    return make(graph, {.op = Op::sinusoids,
                        .dtype = f32,
                        .shape = {length, width.without_label()},
                        .location = location});
}
/// The positions of x [..., length, width].
constexpr Tensor sinusoids(Tensor x, Location location = Location::here()) {
    if (x.is_poison()) return x;
    return make(*x.graph, {.op = Op::sinusoids,
                           .dtype = x.dtype(),
                           .shape = {x.dim(-2), x.dim(-1)},
                           .location = location});
}

/// Rows of the same table for given positions (i32, any shape) → [positions..., width].
constexpr Tensor sinusoids_at(Tensor positions, const Dim& width,
                              Location location = Location::here()) {
    if (positions.is_poison()) return positions;
    Shape shape = positions.shape();
    shape.push(width);
    return make(*positions.graph, {.op = Op::sinusoids,
                                   .dtype = f32,
                                   .shape = shape,
                                   .inputs = inputs_of({positions.id}),
                                   .location = location});
}

}  // namespace fovea
