// The folder that a command writes to.
#pragma once

#include <filesystem>

namespace fovea::tool {

/// Makes the folder, and those around it, where they are missing. UserError when it cannot.
void make_folder(const std::filesystem::path& folder);

}  // namespace fovea::tool
