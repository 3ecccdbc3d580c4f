// A residual connection, then layer normalisation (Vaswani et al. 2017, section 3.1; d2l, "The
// Transformer Architecture").
#pragma once

#include <fovea.h>

namespace fovea::models {

/// Layer norm of x + dropout(y) over the last `axes` axes. Parameters `ln`.
constexpr Tensor add_norm(Scope s, Tensor x, Tensor y, double dropout, int axes = 1) {
    return layer_norm(s / "ln", x + fovea::dropout(y, dropout), axes);
}

struct AddNormSettings {
    Dim hidden = {"hidden", 4};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("hidden", hidden);
    }
};

constexpr void add_norm(Scope s, const AddNormSettings& c) {
    Tensor x = s.input("x", {"batch", "len", c.hidden}),
           y = s.input("y", {"batch", "len", c.hidden});
    s.output("output", add_norm(s, x, y, 0));
}

}  // namespace fovea::models
