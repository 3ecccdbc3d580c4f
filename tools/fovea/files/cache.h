// Where compiled models are kept from one call to the next.
#pragma once

#include <filesystem>

namespace fovea::tool {

/// `$XDG_CACHE_HOME/fovea`, else `~/.cache/fovea`, whether there is one or not; empty where neither
/// is named.
std::filesystem::path cache_path();

/// The same, made where there was none; empty when it cannot be written: nothing is then kept.
std::filesystem::path cache_folder();

/// Whether a file is a shared library from start to end: one that was cut off would end the process
/// when it is loaded.
bool is_whole_library(const std::filesystem::path& file);

/// Copies a file into the cache, through a file beside it, so that other processes see all of it or
/// none. Where `kept` is empty, or its folder is gone by now, nothing is kept.
void keep_in_cache(const std::filesystem::path& made, const std::filesystem::path& kept);

}  // namespace fovea::tool
