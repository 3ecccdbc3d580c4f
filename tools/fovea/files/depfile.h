// Files that say what a file was made of, as compilers write them and `make` and ninja read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea::tool {

/// What stands behind the colon, without the escapes; nothing when the file cannot be read.
std::vector<std::string> read_depfile(const std::filesystem::path& depfile);

/// Says that `target` was made of `files`.
void write_depfile(const std::filesystem::path& depfile, const std::filesystem::path& target,
                   const std::vector<std::string>& files);

}  // namespace fovea::tool
