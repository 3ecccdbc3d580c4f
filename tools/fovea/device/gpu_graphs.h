// What GPUs are measured and checked at: products and attention as graphs of their own.
#pragma once

#include <cstdint>

#include "codegen/graph/graph.h"
#include "codegen/ops/attention/mask.h"

namespace fovea::tool {

/// c = a b, a [rows, k]. For tf32 b is stored by columns: along the sum, as tensor cores read tf32.
Graph product_graph(std::int64_t k, std::int64_t n, bool tf32);

enum class AttentionMask { none, causal, lengths };

/// Attention of q [batch, heads, queries, width], k and v [batch, heads, keys, width]; for lengths
/// the input `lens` [batch].
Graph attention_graph(std::int64_t heads, std::int64_t width, AttentionMask mask, DType dtype,
                      double dropout = 0);

}  // namespace fovea::tool
