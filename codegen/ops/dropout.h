// Dropout, drawn from a counter so that it can be replayed.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

/// The factor of dropout for every element of `shape`: while training 0 with probability p, else
/// 1 / (1 - p); 1 in all other programs. Drawn from Philox at (step, site, row, column); see
/// runtime/training/philox.h.
constexpr Tensor random(Graph& graph, const Shape& shape, double p, int site,
                        Location location = Location::here()) {
    if (!(p >= 0 && p < 1) || site < 0) {
        Text text;
        text << "random " << shape << ": its probability must be in [0, 1), its site 0 or more";
        return fail(graph, location, 0, text);
    }
    if (site >= graph.sites) graph.sites = site + 1;
    return make(graph, {.op = Op::random,
                        .dtype = f32,
                        .shape = shape,
                        .location = location,
                        .value = p,
                        .site = site});
}

namespace detail {
/// x * random(…), which rounds once: the factor is float32.
constexpr Tensor times_random(Tensor x, double p, int site) {
    const Shape shape = x.shape();
    Tensor factor = random(*x.graph, shape, p, site);
    return cast(cast(x, f32) * factor, x.dtype());
}
}  // namespace detail

/// x with elements set to 0 with probability p and the rest scaled by 1 / (1 - p), while training.
constexpr Tensor dropout(Tensor x, double p, Location location = Location::here()) {
    if (!is_usable("dropout", location, {x})) return poison_of({x});
    if (!(p >= 0 && p < 1) || !is_float(x.dtype())) {
        Text text;
        text << "dropout of " << name_of(x.dtype()) << " " << x.shape()
             << (is_float(x.dtype()) ? ": its probability must be in [0, 1)"
                                     : ": its operand must be f32, bf16 or f16");
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    if (p == 0) return x;
    return make(*x.graph, {.op = Op::dropout,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .value = p,
                           .site = x.graph->sites++});
}

}  // namespace fovea
