// Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1; d2l, "Attention Scoring
// Functions").
#pragma once

#include <fovea.h>

#include "models/valid_lens.h"

namespace fovea::models {

struct DotProductAttentionSettings {
    int lens_rank = 1;  // 1: a length for every sequence; 2: one for every query

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("lens_rank", lens_rank);
    }
};

constexpr void dot_product_attention(Scope s, const DotProductAttentionSettings& c) {
    Tensor queries = s.input("queries", {"batch", "queries", "size"});
    Tensor keys = s.input("keys", {"batch", "keys", "size"});
    Tensor values = s.input("values", {"batch", "keys", "value_size"});
    Mask mask = padding(valid_lens_input(s, c.lens_rank));
    s.output("output", attention(queries, keys, values, dot_product, mask));
    s.output("weights", attention_weights(queries, keys, dot_product, mask));
}

}  // namespace fovea::models
