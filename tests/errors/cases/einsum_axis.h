// An axis of a product has two sizes.
#pragma once

#include <fovea.h>

constexpr void einsum_axis(fovea::Scope s) {
    fovea::Tensor q = s.input("q", {"batch", "queries", 16});
    fovea::Tensor k = s.input("k", {"batch", "keys", 32});
    s.output("scores", einsum("b q d, b k d -> b q k", q, k));
}
