// Attention as tile programs, forward and backward, with any of its variants: what the tests of
// kernels and of emitters run.
#pragma once

#include <string>

#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/kernel.h"

namespace fovea::test {

struct AttentionVariant {
    std::string name = "attention";
    Dim width = 64, value_width = 64;
    bool heads_inside = false;  // tensors are [batch, length, heads, width]
    enum class Lengths { none, sequences, queries } lengths = Lengths::none;
    bool causal = false;
    int window = 0;         // only the last so many keys up to a query's own; 0: all
    double soft_cap = 0;    // c * tanh(s / c); 0: none
    bool alibi = false;     // + slope[head] * (key - query) / 16
    bool additive = false;  // sum of w * tanh(q + k) instead of the scaled dot product
    bool allowed = false;   // a tensor of booleans [batch, queries, keys]
    double dropout = 0;
};

/// Sizes: batch "b", 2 heads, queries "m", keys "n". Buffers Q, K, V, then those of the variant in
/// the order length, slope, w, allowed, then the written O [.., value_width] and L [b, head, m],
/// the logarithm to base 2 of the sum of the exponentials. A row without keys is 0.
kernel::Kernel attention_forward(const AttentionVariant& variant);

/// Buffers Q, K, V, O, L, dO, those of the variant, then the written dQ, dK, dV, and dslope
/// [b, head] or dw [b, head, width].
kernel::Kernel attention_backward(const AttentionVariant& variant);

/// The variants that tests go through.
std::vector<AttentionVariant> attention_variants();

}  // namespace fovea::test
