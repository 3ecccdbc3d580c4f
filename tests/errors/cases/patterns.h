// Patterns whose right side is none.
#pragma once

#include <fovea.h>

constexpr void patterns(fovea::Scope s) {
    fovea::Tensor a = s.input("a", {"batch", 4, 6}), b = s.input("b", {"batch", 5, 6});
    s.output("twice", rearrange(s.input("c", {3, 4}), "a b -> a a"));
    s.output("grouped", einsum("b q d, b k d -> b (q k)", a, b));
    s.output("letters", einsum("bqd,kd->bqk", a, b));
}
