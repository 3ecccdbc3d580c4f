// Lengths of another axis mask an attention.
#pragma once

#include <fovea.h>

constexpr void mask_lens(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", "length", 16});
    fovea::Tensor lens = s.input("lens", {"length"}, fovea::i32);
    s.output("y", attention(x, x, x, fovea::dot_product, fovea::padding(lens)));
}
