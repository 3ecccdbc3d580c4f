// A quotient that is not exact, a name that is none, and a size below 0.
#pragma once

#include <fovea.h>

constexpr void sizes(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", 6, 5});
    s.output("half", slice(x, -1, 0, x.dim(-1) / 2));
    s.output("named", s.input("named", {"source length"}));
    s.output("shorter", s.input("shorter", {x.dim(1) - 8}));
}
