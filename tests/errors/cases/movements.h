// Axes that are not there, or not of size 1.
#pragma once

#include <fovea.h>

constexpr void movements(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", 6, 4});
    s.output("squeezed", squeeze(x, 1));
    s.output("added", unsqueeze(x, 5));
    s.output("repeated", broadcast(x, {"batch", 12, 4}));
}
