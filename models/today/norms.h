// Norms that decoders of today have beside `rms_norm`.
#pragma once

#include <fovea.h>

namespace fovea::models {

/// rms_norm of the last axis by a parameter `weight` that is told from 1.
constexpr Tensor rms_norm_from_one(Scope s, Tensor x, double eps) {
    Tensor weight = s.parameter("weight", {x.dim(-1)}, Initial::zeros);
    return value_of(s, rms_norm(x, 1.0 + weight, eps));
}

}  // namespace fovea::models
