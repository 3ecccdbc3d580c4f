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
    if (!is_usable("sinusoids", location, {x})) return poison_of({x});
    if (x.rank() < 2 || !is_float(x.dtype())) {
        Text text;
        text << "sinusoids: expected f32, bf16 or f16 [..., length, width], got "
             << name_of(x.dtype()) << " " << x.shape();
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    return make(*x.graph, {.op = Op::sinusoids,
                           .dtype = x.dtype(),
                           .shape = {x.dim(-2), x.dim(-1)},
                           .location = location});
}

/// Rows of the same table for given positions (i32, any shape) → [positions..., width].
constexpr Tensor sinusoids_at(Tensor positions, const Dim& width,
                              Location location = Location::here()) {
    if (!is_usable("sinusoids_at", location, {positions})) return poison_of({positions});
    if (positions.dtype() != i32) {
        Text text;
        text << "sinusoids_at: expected i32 positions, got " << name_of(positions.dtype()) << " "
             << positions.shape();
        return fail(*positions.graph, location, positions.graph->scope_of(positions.id), text);
    }
    Shape shape = positions.shape();
    shape.push(width);
    return make(*positions.graph, {.op = Op::sinusoids,
                                   .dtype = f32,
                                   .shape = shape,
                                   .inputs = inputs_of({positions.id}),
                                   .location = location});
}

}  // namespace fovea
