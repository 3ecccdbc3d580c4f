// Sinusoidal positions added to vectors (Vaswani et al. 2017, section 3.5; d2l, "Self-Attention and
// Positional Encoding").
#pragma once

#include <fovea.h>

namespace fovea::models {

/// x [batch, length, width] plus the positions' table, then dropout.
constexpr Tensor positional_encoding(Tensor x, double dropout) {
    return fovea::dropout(x + sinusoids(x), dropout);
}

struct PositionalEncodingSettings {
    Dim hidden = {"hidden", 32};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("hidden", hidden);
    }
};

constexpr void positional_encoding(Scope s, const PositionalEncodingSettings& c) {
    s.output("output", positional_encoding(s.input("x", {"batch", "len", c.hidden}), 0));
}

}  // namespace fovea::models
