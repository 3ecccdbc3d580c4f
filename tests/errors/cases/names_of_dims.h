// Equal sizes, other names.
#pragma once

#include <fovea.h>

constexpr void names_of_dims(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", fovea::Dim("hidden", 512)});
    fovea::Tensor y = s.input("y", {"batch", fovea::Dim("ffn", 512)});
    s.output("z", x + y);
}
