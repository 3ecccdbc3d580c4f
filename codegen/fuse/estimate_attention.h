// How long an attention takes, in plain ops and as one kernel, by what it computes and moves.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/graph/graph.h"
#include "codegen/target/lowering.h"

namespace fovea::fuse {

/// What a score function, or its gradient, computes of one (query, key) pair.
struct PairWork {
    double multiply_adds = 0;    // of products that sums over queries, keys or widths take in
    double operations = 0;       // other elementwise ones
    double transcendentals = 0;  // tanh, exp, …
    double widest = 1;           // elements of the largest value
};

/// Of a graph as ScoreFunction has them; that of a gradient computes the score too.
PairWork pair_work(const Graph& function);

/// An attention whose sizes are known.
struct AttentionWork {
    std::int64_t batch = 1, heads = 1, queries = 1, keys = 1, width = 1, value_width = 1;
    KeyWindow window{};
    bool dropout = false;
    bool gradient = false;  // the backward pass is run too
    PairWork score{}, score_gradient{};
};

/// Seconds of one thread, the backward pass included where it is run.
struct AttentionEstimate {
    double plain = 0, fused = 0;
    /// Plain ops store all pairs: they are taken where that saves a notable part of the time.
    bool prefers_plain = false;
};

/// Both forms by their counts and the costs measured for each; nothing but sizes and the score
/// goes in, so the answer does not depend on threads, nor on the machine that generates.
AttentionEstimate estimate_attention(const AttentionWork& work,
                                     const target::AttentionChoices& target);

/// `at 4 x 4 x 64 x 64 (batch, heads, queries, keys) the plain ops are estimated at 0.21 ms, one
/// kernel at 0.31 ms`
std::string text_of(const AttentionWork& work, const AttentionEstimate& estimate);

}  // namespace fovea::fuse
