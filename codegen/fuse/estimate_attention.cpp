// A sum of counts, each with what one costs (codegen/target/lowering.h). With the costs measured,
// half of the estimates are within 6 %, nine of ten within 20 %. As a share of the plain ops' time
// one kernel took, forward and backward (16 heads, no dropout; the last column 256 heads, 64
// queries and keys):
//
//   score, width        8     16     32     64    128    192    256 causal   256 heads
//   q·k, 8           0.87   0.77   0.78   0.77   0.78   0.60          0.30        0.59
//   q·k, 16          1.39   1.32   1.23   1.09   1.10   0.88          0.44        0.99
//   q·k, 32          1.23   1.21   1.17   1.15   1.00   0.98          0.56        0.94
//   q·k, 64          1.21   1.24   1.22   1.26   1.09   1.04          0.66        1.04
//   soft cap, 32     1.69   1.66   1.70   1.46   1.38   1.28          0.68        1.23
//   additive, 32     1.68   0.91   0.67   0.55   0.41   0.32             -        0.38
//
// To measure anew: run programs compiled with AttentionForm::plain and ::fused in turns, and fit.
#include "codegen/fuse/estimate_attention.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::fuse {

namespace {

using Costs = target::AttentionCosts;

double in_whole_vectors(std::int64_t count) {
    const std::int64_t vectors = (count + target::kLanes - 1) / target::kLanes;
    return double(vectors * target::kLanes);
}

/// With what lies in lanes in whole vectors.
double in_lanes(std::int64_t count) { return count <= 8 ? 8 : in_whole_vectors(count); }

/// The share of pairs that the tiles of one kernel visit.
double visited(const AttentionWork& work, std::int64_t tile) {
    if (!work.window.is_limited()) return 1;
    double pairs = 0;
    for (std::int64_t from = 0; from < work.queries; from += tile) {
        const std::int64_t rows = std::min(tile, work.queries - from);
        const std::int64_t end = std::min(work.keys, from + tile + work.window.after);
        const std::int64_t first = std::max<std::int64_t>(0, from - work.window.before);
        pairs += double(rows) * double(std::max<std::int64_t>(0, end - first / tile * tile));
    }
    return pairs / (double(work.queries) * double(work.keys));
}

/// Of scores and then of their gradient.
PairWork both_of(const PairWork& a, const PairWork& b) {
    return {.multiply_adds = a.multiply_adds + b.multiply_adds,
            .operations = a.operations + b.operations,
            .transcendentals = a.transcendentals + b.transcendentals,
            .widest = std::max(a.widest, b.widest)};
}

double seconds(const AttentionWork& work, const Costs& costs, const PairWork& score, double share,
               double cache_bytes) {
    const double points = double(work.batch * work.heads), rows = points * double(work.queries);
    const double pairs = share * rows * double(work.keys);
    const double in_vectors = share * rows * in_whole_vectors(work.keys);
    const double products = in_vectors * score.multiply_adds +
                            pairs * in_lanes(work.value_width) * (work.gradient ? 3 : 1);
    const double elements = points *
                            (double(work.queries) * double(work.width + work.value_width) +
                             double(work.keys) * double(work.width + work.value_width)) /
                            4;
    const double tensors = 4 * elements * (work.gradient ? 12 : 4);
    const double all_pairs = 4 * rows * double(work.keys) * score.widest * (work.gradient ? 4 : 2);
    const auto beyond = [&](double bytes) { return std::max(0.0, bytes - cache_bytes); };
    return 1e-9 *
           (costs.run + costs.point * points + costs.row * rows + costs.row_element * elements +
            costs.pair * in_vectors + costs.multiply_add * products +
            in_vectors *
                (costs.operation * score.operations + costs.transcendental * score.transcendentals +
                 (work.dropout ? costs.dropout : 0)) +
            costs.tensor_byte * beyond(tensors) + costs.pair_byte * beyond(all_pairs));
}

}  // namespace

AttentionEstimate estimate_attention(const AttentionWork& work,
                                     const target::AttentionChoices& target) {
    const double share = visited(work, target.tile);
    const auto both = [&](const Costs& plain, const Costs& fused, const PairWork& of_plain,
                          const PairWork& of_fused) {
        AttentionEstimate estimate{
            .plain = seconds(work, plain, of_plain, 1, target.cache_bytes),
            .fused = seconds(work, fused, of_fused, share, target.cache_bytes)};
        estimate.prefers_plain = estimate.fused > target.patience * estimate.plain;
        return estimate;
    };
    if (!work.gradient)
        return both(target.plain_forward, target.fused_forward, work.score, work.score);
    // A gradient makes the scores anew: of plain ops it reads them, one kernel does make them.
    const PairWork again = both_of(work.score, work.score_gradient);
    return both(target.plain_both, target.fused_both, work.score_gradient, again);
}

std::string text_of(const AttentionWork& work, const AttentionEstimate& estimate) {
    return fmt::format(
        "at {} x {} x {} x {} (batch, heads, queries, keys) the plain ops are estimated at {:.2g} "
        "ms, one kernel at {:.2g} ms",
        work.batch, work.heads, work.queries, work.keys, 1e3 * estimate.plain,
        1e3 * estimate.fused);
}

}  // namespace fovea::fuse
