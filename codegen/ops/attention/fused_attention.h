// Attention as one kernel: its output, the statistics of its rows, its gradients.
//
// The method is that of FlashAttention-2 (Dao 2023): weights are computed tile by tile with a
// running maximum and sum, and again in the backward pass, from the rows' logarithmic sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/attention_input.h"
#include "codegen/graph/tensor.h"
#include "codegen/ops/attention/mask.h"
#include "codegen/ops/attention/score_function.h"

namespace fovea {

/// The statistics of a row from which a boolean tensor hides all keys, with uniform weights.
inline constexpr double kSeesNone = 3.4028234663852886e38;

/// What the largest score of a row starts with, base 2: the second lowest float32. Hidden scores,
/// which are the lowest, then have no weight even where a row sees no key, however long its tiles
/// are.
inline constexpr double kNoScore = -3.4028232635611926e38;

inline constexpr double kLog2e = 1.4426950408889634;

inline constexpr int kMaxCaptures = int(kMaxInputs) - int(AttentionInput::first_capture);

/// What attention node `id` gives, as one kernel with score `function`, reading `captures`.
/// Where its mask has segments, `segment_ends` are where they end, and those of the mask where they
/// start (segments.h).
Tensor fused_attention(const Graph& source, int id, Tensor q, Tensor k, Tensor v, const Mask& mask,
                       Tensor segment_ends, const std::vector<Tensor>& captures,
                       const ScoreFunction* function);

/// Whether only the pairs of a row say that it sees no key, so that the forward kernel has to look
/// for that, and marks such rows: by `kSeesNone` among their statistics.
bool marks_rows(const AttentionAttributes& attributes, MaskedRows masked_rows);

/// Why attention node `id`, whose score `extract_score` gave with its gradient, is not one kernel.
std::optional<std::string> why_not_fused_attention(const Graph& graph, int id,
                                                   const ScoreFunction& function);

/// The gradient of a captured value as one (batch, head) gives it: rows of a table that is read by
/// head are each one head's own.
struct CaptureGradient {
    int node = 0;  // in the function's gradient graph: what one pair gives
    bool by_head = false;
    Shape shape;  // of what one pair gives
};
CaptureGradient capture_gradient(const ScoreFunction& function, int number);

}  // namespace fovea
