// All kernels of the built-in models, at their small settings.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "dsl/settings.h"

namespace fovea::test {

struct ModelKernels {
    std::string model, variant;  // of the model: "", "unfused" or "bf16"
    std::vector<kernel::Kernel> kernels;
};

/// Those of all programs of each model that is like no other (alike_models.h); three variants of
/// it: fused and not, in float32, and with weights and activations in bfloat16.
const std::vector<ModelKernels>& all_model_kernels();

}  // namespace fovea::test
