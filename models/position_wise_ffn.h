// Two linear layers with relu between them, the same at every position (Vaswani et al. 2017,
// section 3.3; d2l, "The Transformer Architecture").
#pragma once

#include <fovea.h>

namespace fovea::models {

/// [..., width] → [..., output]. Parameters dense1 and dense2.
constexpr Tensor position_wise_ffn(Scope s, Tensor x, Dim ffn, Dim output) {
    return linear(s / "dense2", relu(linear(s / "dense1", x, ffn)), output);
}

struct PositionWiseFFNSettings {
    Dim input = {"input", 4}, ffn = {"ffn", 4}, output = {"output", 8};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("input", input);
        visit("ffn", ffn);
        visit("output", output);
    }
};

constexpr void position_wise_ffn(Scope s, const PositionWiseFFNSettings& c) {
    Tensor x = s.input("x", {"batch", "len", c.input});
    s.output("output", position_wise_ffn(s, x, c.ffn, c.output));
}

}  // namespace fovea::models
