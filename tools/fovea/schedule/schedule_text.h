// What `fovea show --stage schedule` prints.
#pragma once

#include <string>

#include "codegen/plan/plan.h"

namespace fovea::tool {

/// The description of the model's target as `--schedule` reads it, then in comments what is chosen
/// for each kernel: on CPUs, or, for a model lowered for GPUs, on `architecture`.
std::string schedule_text(const plan::Model& model, const std::string& architecture);

}  // namespace fovea::tool
