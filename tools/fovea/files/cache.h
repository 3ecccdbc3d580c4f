// Where compiled models are kept from one call to the next.
#pragma once

#include <filesystem>

namespace fovea::tool {

/// `$XDG_CACHE_HOME/fovea`, else `~/.cache/fovea`, whether there is one or not; empty where neither
/// is named.
std::filesystem::path cache_path();

/// The same, made where there was none; empty when it cannot be written: nothing is then kept.
std::filesystem::path cache_folder();

}  // namespace fovea::tool
