// How a graph becomes kernels for a target: numbers of blocks, layouts, and what attention costs.
#pragma once

namespace fovea::target {

/// Floats of the vectors that generated C++ computes with (runtime/cpu/vector.h), on every
/// instruction set; panels of weights are whole vectors.
inline constexpr int kLanes = 16;
/// From so many terms on, a product fetches on its way what comes next (runtime/cpu/operands.h).
inline constexpr int kLongSum = 256;

/// How programs in bfloat16 or float16 lay out the matrices among their parameters for products: in
/// panels of rows, as a CPU multiplies them (bfloat16 in pairs of columns), or rounded as they are.
enum class Weights { in_panels, as_they_are };

/// What one of each costs, in nanoseconds of one thread.
struct AttentionCosts {
    double run = 0;  // once
    double point = 0;  // a batch element's head
    double row = 0;  // a query
    double row_element = 0;  // an element of a query
    double pair = 0;  // a (query, key) pair, keys in whole vectors
    double multiply_add = 0;  // of a product
    double operation = 0;  // of the score and of its gradient
    double transcendental = 0;
    double dropout = 0;  // a factor drawn
    double tensor_byte = 0;  // of queries, keys, values that the second cache does not hold
    double pair_byte = 0;  // of scores and weights, likewise
};

/// Costs of attention in plain ops and as one kernel, forward and with the backward pass: fitted
/// (least squares of relative errors, none negative) to times of one thread of a Zen 4 at 3.7 GHz
/// with AVX-512, 616 of them: widths 8 to 64, lengths 8 to 256, 16 and 256 heads in all, with
/// dropout and causal masks and without, q·k, ALiBi with a soft cap, w·tanh(q + k).
struct AttentionChoices {
    AttentionCosts plain_forward{.run = 680,
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
    AttentionCosts plain_both{.run = 1540,
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
    AttentionCosts fused_forward{.run = 1260,
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
    AttentionCosts fused_both{.run = 2740,
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
    double cache_bytes = 1 << 20;  // of the second cache, what stays for the next kernel
    /// How many times as long one kernel may take before the plain ops, which store every pair,
    /// are taken instead.
    double patience = 1.1;
    int tile = 64;  // queries of a tile: keys past the last that a causal tile sees cost nothing
    /// Where one position attends, heads are so many tasks at least: their keys are split. Each
    /// costs some tenths of a microsecond, with keys or without. 1: no.
    int tasks = 6;
};

/// Losses without logits: tokens are taken in chunks, classes in tiles. For each chunk the weight
/// is read twice, and its gradient read and written: the more tokens, the less memory is moved.
/// Those of 80 take a hundredth of the memory that the logits of 8192 would.
struct LossChoices {
    int chunk_floats = 4 * 1024 * 1024;  // of the logits of a chunk, about
    int most_rows = 128;  // tokens of a chunk: as many as the logits allow, within these
    int least_rows = 80;
    int tile = 480;  // classes of a tile: whole register tiles, which a second cache holds
    int least_classes = 4096;  // from so many on logits are not stored
};

struct Lowering {
    int row_blocks = 32;  // that a sum over rows is split into; threads share them
    int product_blocks = 1;  // that the summed axis of products with few results is (split K)
    int few_results = 4096;  // of products that are split: at most so many, of at least
    int many_terms = 256;  // so many terms each
    int panel_vectors = 2;  // of the panels in which weights lie for products
    int other_panel_vectors = 3;  // where these divide the columns and the others do not
    /// Weights of so many elements are not copied into panels by a program that computes gradients:
    /// they change with every step, and its products have rows enough to pack what they read.
    int packed_weights = 256 * 1024;
    int steps_passed_over = 8;  // that have to wait, for one that need not
    /// Kernels that touch at most so many numbers each thread runs for itself, where that spares a
    /// wait: about what a thread reads and writes in the time of one.
    int replicated_numbers = 8192;
    AttentionChoices attention{};
    LossChoices loss{};

    Weights weights = Weights::in_panels;
    /// Gradients of attention are a kernel over tiles of keys and one over tiles of queries, none
    /// of which waits for another; else one kernel, whose tiles of keys add to the gradient of the
    /// queries in order, with five products instead of seven.
    bool independent_tiles = false;
};

}  // namespace fovea::target
