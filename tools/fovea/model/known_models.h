// The models that commands know by name.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "dsl/model_entry.h"

namespace fovea::tool {

/// Those of the libraries that $FOVEA_MODELS lists, separated by ':', where a user's generator has
/// set it (fovea_add_generator in tools/cmake/fovea_add_generator.cmake); else the built-in ones.
/// UserError when a library cannot be loaded, or is older than this command.
std::span<const ModelEntry> known_models();

/// One of them, or else a built-in one; null when there is none of this name.
const ModelEntry* find_known_model(std::string_view name);

/// The model of a library of one (dsl/model_function.h), which stays loaded. InternalError when
/// there is none.
ModelEntry load_entry(const std::filesystem::path& library);

}  // namespace fovea::tool
