// Two layers have one name.
#pragma once

#include <fovea.h>

constexpr void parameter_names(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", 8});
    s.output("y", linear(s / "dense", x, 8) + linear(s / "dense", x, 8));
}
