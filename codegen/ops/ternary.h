// Elementwise functions of three operands.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea::detail {

/// f(a, b, c) of floats, broadcasting; `where`, whose first operand is a condition, apart.
constexpr Tensor ternary(Elementwise function, Tensor a, Tensor b, Tensor c,
                         Location location = Location::here()) {
    const ElementwiseRow& row = row_of(function);
    if (!is_usable(row.literal(), location, {a, b, c})) return poison_of({a, b, c});
    Graph& graph = *a.graph;
    Shape both = a.shape(), shape;
    for (Tensor x : {a, b, c})
        if (!is_taken(row.takes, x.dtype())) return not_taken(function, x, location);
    for (Tensor x : {b, c}) {
        Text why;
        if (x.dtype() != a.dtype())
            why << name_of(a.dtype()) << " is not " << name_of(x.dtype()) << " (use cast)";
        else broadcast_shapes(both, x.shape(), shape, why, !graph.in_pass());
        if (why.size()) return mismatch(graph, function, a, x, why, location);
        both = shape;
    }
    return make(graph, {.op = Op::elementwise,
                        .function = function,
                        .dtype = a.dtype(),
                        .shape = both,
                        .inputs = inputs_of({a.id, b.id, c.id}),
                        .location = location});
}

}  // namespace fovea::detail
