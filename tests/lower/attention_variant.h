// Attention of every kind as a model of its own: scores, masks, dropout, layouts and types.
#pragma once

#include <string>

#include "codegen/graph/graph.h"
#include "codegen/kernel/evaluate.h"

namespace fovea::test {

enum class Score {
    dot_product,
    soft_cap,
    alibi,
    alibi_by_head,
    additive,
    banded,
    weighted,
    bilinear,
    squared_distance,
    biased,
    by_distance,  // a table by head and distance
    by_remainder,  // a table by numbers of the pair, used twice
    rows_by_distance  // vectors by distance
};

/// How the rows of queries, keys or values lie in memory: [.., length, width],
/// [batch, length, heads, width] or [.., width, length].
enum class Lying { rows, heads_inside, columns };

/// float32; or products that take bfloat16: of inputs, which are float32 in memory, or of
/// projections, which are bfloat16 there, as is what attention gives.
enum class Precision { float32, bfloat16_products, bfloat16_memory };

struct AttentionVariant {
    std::string name = "attention";  // of its module, so of its kernels
    Score score = Score::dot_product;
    Dim batch = "batch", queries = "queries", keys = "keys";
    int heads = 2;  // 0: tensors are [batch, length, width]
    int key_heads = 0;  // of keys and values; 0: as many
    int width = 64, value_width = 64;
    Lying query_lies = Lying::rows, key_lies = Lying::rows, value_lies = Lying::rows,
          output_lies = Lying::rows;
    KeyWindow window{};
    enum class Lengths { none, sequences, queries } lengths = Lengths::none;
    bool segments = false;  // there are as many keys as queries
    bool allowed = false;  // a tensor of booleans [batch, (1,) queries, keys]
    bool uniform = false;  // a row that sees no key takes all of them alike, instead of being 0
    double dropout = 0;
    Precision precision = Precision::float32;

    AttentionVariant& lie(Lying lying) {
        query_lies = key_lies = value_lies = output_lies = lying;
        return *this;
    }
};

/// Its output is O. Inputs are Q, K, V (or what these are projections of), then
/// `lens`, `segments` or `seen` of its mask, then `slope`, `slopes`, `w`, `W` or `table` of its
/// score.
Graph attention_graph(const AttentionVariant& variant);

/// The sizes of its symbolic dims.
kernel::DimValues attention_sizes(std::int64_t batch, std::int64_t queries, std::int64_t keys);

}  // namespace fovea::test
