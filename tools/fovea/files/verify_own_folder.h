// A folder that generated files go to.
#pragma once

#include <filesystem>
#include <string>

namespace fovea::tool {

/// Sources alone, sources with a CMakeLists.txt, or a package for Python.
enum class Generated { sources, project, package };

/// UserError where a file of the model `name` would take the place of one that fovea did not
/// generate, or two models would share one CMakeLists.txt.
void verify_own_folder(const std::filesystem::path& folder, const std::string& name,
                       Generated what);

}  // namespace fovea::tool
