// A folder that generated files go to.
#pragma once

#include <filesystem>
#include <string>

namespace fovea::tool {

/// UserError where a file of the model `name`, or of its package for Python, would take the place
/// of one that fovea did not generate, or two models would share one CMakeLists.txt.
void verify_own_folder(const std::filesystem::path& folder, const std::string& name,
                       bool is_python);

}  // namespace fovea::tool
