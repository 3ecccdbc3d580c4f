// What generated programs are linked with: the runtime, compiled.
#pragma once

#include <filesystem>
#include <string>

namespace fovea::tool {

/// An archive of the runtime for machines that have `isa`: the one beside the command, or for
/// machines of another kind one that is compiled into `folder` and kept in the user's cache.
std::filesystem::path runtime_archive_for(const std::string& isa,
                                          const std::filesystem::path& folder);

}  // namespace fovea::tool
