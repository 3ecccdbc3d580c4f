// softmax, and softmax over the keys that a mask leaves.
#pragma once

#include "codegen/ops/attention/mask.h"
#include "codegen/ops/reduction.h"

namespace fovea {

/// exp(x) / Σ exp(x) over one axis.
constexpr Tensor softmax(Tensor x, int axis = -1, Location location = Location::here()) {
    if (!detail::has_float_axis("softmax", x, axis, location)) return poison_of({x});
    return make(*x.graph, {.op = Op::softmax,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .axis = axis < 0 ? axis + x.rank() : axis});
}

namespace detail {

/// Checks a mask against scores [batch, ..., queries, keys]; writes what is wrong into `why`.
constexpr void check_mask(const Shape& scores, const Mask& mask, Text& why) {
    if (mask.window.before < 0 || mask.window.after < 0)
        why << "a window goes from 0 or more keys before a query to 0 or more after it, not "
            << mask.window.before << " and " << mask.window.after;
    if (mask.lens.exists() && !mask.lens.is_poison()) {
        const Shape& lens = mask.lens.shape();
        bool per_sequence = lens.rank() == 1 && fits(lens[0], scores[0]);
        bool per_query = lens.rank() == 2 && fits(lens[0], scores[0]) && fits(lens[1], scores[-2]);
        if (mask.lens.dtype() != i32 || !(per_sequence || per_query))
            why << "valid_lens must be i32 [" << scores[0] << "] or [" << scores[0] << ", "
                << scores[-2] << "], got " << name_of(mask.lens.dtype()) << " " << lens;
    }
    if (mask.allowed.exists() && !mask.allowed.is_poison()) {
        Shape shape;
        Text mismatch;
        bool ok = mask.allowed.dtype() == DType::boolean &&
                  broadcast_shapes(mask.allowed.shape(), scores, shape, mismatch) &&
                  shape == scores;
        if (!ok)
            why << "a mask must be bool and broadcast to " << scores << ", got "
                << name_of(mask.allowed.dtype()) << " " << mask.allowed.shape();
    }
    if (mask.segments.exists() && !mask.segments.is_poison() && !why.size()) {
        const Shape& own = mask.segments.shape();
        if (!fits(scores[-2], scores[-1]))
            why << "segments are of as many queries as keys, not of " << scores[-2] << " and "
                << scores[-1];
        else if (mask.segments.dtype() != i32 || own.rank() != 2 || !fits(own[0], scores[0]) ||
                 !fits(own[1], scores[-1]))
            why << "segments must be i32 [" << scores[0] << ", " << scores[-1] << "], got "
                << name_of(mask.segments.dtype()) << " " << own;
    }
}

}  // namespace detail

/// softmax over the last axis of scores [batch, (heads,) queries, keys], hidden keys getting weight
/// 0; a row that sees no key is uniform, or zero (`Mask::masked_rows`).
constexpr Tensor masked_softmax(Tensor scores, const Mask& mask,
                                Location location = Location::here()) {
    if (!is_usable("masked_softmax", location,
                   {scores, mask.lens.exists() ? mask.lens : scores,
                    mask.allowed.exists() ? mask.allowed : scores,
                    mask.segments.exists() ? mask.segments : scores}))
        return poison_of({scores});
    Graph& graph = *scores.graph;
    Text why;
    if (scores.rank() < 2 || !is_float(scores.dtype()))
        why << "scores must be f32 [batch, ..., queries, keys], got " << name_of(scores.dtype())
            << " " << scores.shape();
    else detail::check_mask(scores.shape(), mask, why);
    if (why.size()) {
        Text text;
        text << "masked_softmax: " << why.view();
        return fail(graph, location, graph.scope_of(scores.id), text);
    }
    graph.attentions.push_back({.window = mask.window,
                                .has_lens = mask.lens.exists(),
                                .has_allowed = mask.allowed.exists(),
                                .has_segments = mask.segments.exists()});
    return make(graph,
                {.op = Op::masked_softmax,
                 .dtype = scores.dtype(),
                 .shape = scores.shape(),
                 .inputs = inputs_of({scores.id, -1, -1, mask.lens.exists() ? mask.lens.id : -1,
                                      mask.allowed.exists() ? mask.allowed.id : -1,
                                      mask.segments.exists() ? mask.segments.id : -1}),
                 .location = location,
                 .axis = scores.rank() - 1,
                 .attribute = int(graph.attentions.size()) - 1,
                 .masked_rows = mask.masked_rows});
}

}  // namespace fovea
