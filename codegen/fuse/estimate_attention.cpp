// A sum of counts, each with what one costs. The costs were fitted (least squares of relative
// errors, none negative) to times of one thread of a Zen 4 at 3.7 GHz with AVX-512, 616 of them:
// widths 8 to 64, lengths 8 to 256, 16 and 256 heads in all, with dropout and causal masks and
// without, q·k, ALiBi with a soft cap, w·tanh(q + k). Half of the estimates are within 6 %, nine of
// ten within 20 %. As a share of the plain ops' time one kernel took, forward and backward (16
// heads, no dropout; the last column 256 heads, 64 queries and keys):
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

/// What one of each costs, in nanoseconds.
struct Costs {
    double run;  // once
    double point;  // a batch element's head
    double row;  // a query
    double row_element;  // an element of a query
    double pair;  // a (query, key) pair, keys in whole vectors: exponential, maximum, sum
    double multiply_add;  // of a product
    double operation;  // of the score and of its gradient
    double transcendental;
    double dropout;  // a factor drawn
    double tensor_byte;  // of queries, keys, values and so on that the second cache does not hold
    double pair_byte;  // of scores and weights, likewise
};

/// Of the second cache, what stays for the next kernel.
constexpr double kCacheBytes = 1 << 20;
/// How many times as long one kernel may take before the plain ops, which store every pair, are
/// taken instead.
constexpr double kPatience = 1.1;
/// Lengths of the tiles of queries; the keys past the last that a causal tile sees are not visited.
constexpr std::int64_t kTile = 64;

constexpr Costs kPlainForward{.run = 680,
                              .point = 78,
                              .row = 5.4,
                              .row_element = 0.106,
                              .pair = 0.28,
                              .multiply_add = 0.0175,
                              .operation = 0.067,
                              .transcendental = 0.195,
                              .dropout = 0.70,
                              .tensor_byte = 0.0151,
                              .pair_byte = 0.0282};
constexpr Costs kPlainBoth{.run = 1540,
                           .point = 122,
                           .row = 1.52,
                           .row_element = 0.235,
                           .pair = 0.68,
                           .multiply_add = 0.0171,
                           .operation = 0.0418,
                           .transcendental = 0.079,
                           .dropout = 1.31,
                           .tensor_byte = 0.0170,
                           .pair_byte = 0.0524};
constexpr Costs kFusedForward{.run = 1260,
                              .point = 33,
                              .row = 0,
                              .row_element = 0.162,
                              .pair = 0.149,
                              .multiply_add = 0.0181,
                              .operation = 0.094,
                              .transcendental = 0.029,
                              .dropout = 0.30,
                              .tensor_byte = 0.078,
                              .pair_byte = 0};
constexpr Costs kFusedBoth{.run = 2740,
                           .point = 0,
                           .row = 0,
                           .row_element = 0.629,
                           .pair = 0.369,
                           .multiply_add = 0.0180,
                           .operation = 0.0742,
                           .transcendental = 0,
                           .dropout = 0.70,
                           .tensor_byte = 0.0527,
                           .pair_byte = 0};

double in_vectors_of_16(std::int64_t count) {
    const std::int64_t vectors = (count + 15) / 16;
    return double(vectors * 16);
}

/// With what lies in lanes in whole vectors.
double in_lanes(std::int64_t count) { return count <= 8 ? 8 : in_vectors_of_16(count); }

/// The share of pairs that the tiles of one kernel visit.
double visited(const AttentionWork& work) {
    if (!work.causal) return 1;
    double pairs = 0;
    for (std::int64_t from = 0; from < work.queries; from += kTile) {
        const std::int64_t rows = std::min(kTile, work.queries - from);
        pairs += double(rows) * double(std::min(work.keys, from + kTile));
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

double seconds(const AttentionWork& work, const Costs& costs, const PairWork& score, double share) {
    const double points = double(work.batch * work.heads), rows = points * double(work.queries);
    const double pairs = share * rows * double(work.keys);
    const double in_vectors = share * rows * in_vectors_of_16(work.keys);
    const double products = in_vectors * score.multiply_adds +
                            pairs * in_lanes(work.value_width) * (work.gradient ? 3 : 1);
    const double elements = points *
                            (double(work.queries) * double(work.width + work.value_width) +
                             double(work.keys) * double(work.width + work.value_width)) /
                            4;
    const double tensors = 4 * elements * (work.gradient ? 12 : 4);
    const double all_pairs = 4 * rows * double(work.keys) * score.widest * (work.gradient ? 4 : 2);
    const auto beyond = [](double bytes) { return std::max(0.0, bytes - kCacheBytes); };
    return 1e-9 *
           (costs.run + costs.point * points + costs.row * rows + costs.row_element * elements +
            costs.pair * in_vectors + costs.multiply_add * products +
            in_vectors *
                (costs.operation * score.operations + costs.transcendental * score.transcendentals +
                 (work.dropout ? costs.dropout : 0)) +
            costs.tensor_byte * beyond(tensors) + costs.pair_byte * beyond(all_pairs));
}

}  // namespace

bool AttentionEstimate::prefers_plain() const { return fused > kPatience * plain; }

AttentionEstimate estimate_attention(const AttentionWork& work) {
    const double share = visited(work);
    if (!work.gradient)
        return {.plain = seconds(work, kPlainForward, work.score, 1),
                .fused = seconds(work, kFusedForward, work.score, share)};
    // A gradient makes the scores anew: of plain ops it reads them, one kernel does make them.
    const PairWork again = both_of(work.score, work.score_gradient);
    return {.plain = seconds(work, kPlainBoth, work.score_gradient, 1),
            .fused = seconds(work, kFusedBoth, again, share)};
}

std::string text_of(const AttentionWork& work, const AttentionEstimate& estimate) {
    return fmt::format(
        "at {} x {} x {} x {} (batch, heads, queries, keys) the plain ops are estimated at {:.2g} "
        "ms, one kernel at {:.2g} ms",
        work.batch, work.heads, work.queries, work.keys, 1e3 * estimate.plain,
        1e3 * estimate.fused);
}

}  // namespace fovea::fuse
