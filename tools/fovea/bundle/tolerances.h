// What the cases of a bundle may be off on a GPU.
#pragma once

#include "codegen/base/dtype.h"

namespace fovea::tool {

/// Largest errors that pass, relative to the largest value of the tensor (tools/bundle/compare.h).
struct Tolerances {
    double values = 2e-5, gradients = 1e-4;
};
/// The reference rounds to bfloat16 or float16 what is stored so. What lies between two of its
/// values may go the other way there, by 1/128 or 1/1024 at most, and a kernel goes on with what it
/// has not rounded yet.
constexpr Tolerances tolerances_of(DType dtype) {
    if (dtype == DType::f16) return {1. / 512, 1. / 256};
    return dtype == DType::bf16 ? Tolerances{1. / 64, 1. / 32} : Tolerances{};
}
/// Of products of tf32, whose operands the reference rounds, too: what lies between two values of
/// tf32 may go the other way there, by 1/1024 at most.
inline constexpr Tolerances kTf32Tolerances = {1. / 512, 1. / 256};

}  // namespace fovea::tool
