// Attention as tile programs, forward and backward, with any of its variants: what the tests of
// kernels and of emitters run.
#pragma once

#include <string>

#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/kernel.h"

namespace fovea::test {

struct AttentionVariant {
    std::string name = "attention";
    Dim batch = "b", queries = "m", keys = "n", width = 64, value_width = 64;
    bool heads_inside = false;  // tensors are [batch, length, heads, width]
    enum class Lengths { none, sequences, queries } lengths = Lengths::none;
    bool uniform = false;  // a row that sees no key takes all of them alike, instead of being 0
    bool causal = false;
    int window = 0;         // only the last so many keys up to a query's own; 0: all
    double soft_cap = 0;    // c * tanh(s / c); 0: none
    bool alibi = false;     // + slope[head] * (key - query) / 16
    bool bias = false;      // + bias[batch, head, query, key]
    bool additive = false;  // sum of w * tanh(q + k) instead of the scaled dot product
    bool allowed = false;   // a tensor of booleans [batch, queries, keys]
    double dropout = 0;
    bool given_delta = false;  // backward: the sums of dO * O, instead of O
};

/// There are 2 heads. Buffers Q, K, V, then those of the variant in the order length, slope, bias,
/// w, allowed, then the written O [.., value_width] and L [batch, head, queries], the logarithm to
/// base 2 of the sum of the exponentials.
kernel::Kernel attention_forward(const AttentionVariant& variant);

/// Buffers Q, K, V, O or delta [batch, head, queries], L, dO, those of the variant, then the
/// written dQ, dK, dV, dbias, and dslope [batch, head] or dw [batch, head, width].
kernel::Kernel attention_backward(const AttentionVariant& variant);

/// The same as kernels whose tiles do without each other: dK, dV and dbias by tiles of keys, dQ by
/// tiles of queries, then dslope or dw. Each has the buffers that it reads, and those it writes.
std::vector<kernel::Kernel> attention_gradients(const AttentionVariant& variant);

/// Causal attention with valid lengths, its sizes named in full: what golden texts show.
AttentionVariant readable_attention();

/// The variants that tests go through.
std::vector<AttentionVariant> attention_variants();

}  // namespace fovea::test
