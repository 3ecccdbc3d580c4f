// The built-in models by name.
#pragma once

#include <span>
#include <string_view>

#include "dsl/model_entry.h"

namespace fovea::models {

std::span<const ModelEntry> built_in_models();

/// Null when there is none of this name.
const ModelEntry* find_model(std::string_view name);

}  // namespace fovea::models
