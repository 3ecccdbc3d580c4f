// Which fovea this is.
#pragma once

#include <string>

namespace fovea::tool {

/// `fovea 0.1`, as programs that it builds have it too.
std::string name_and_version();

/// What `fovea --version` prints: the version, the compiler of this command, what writes PTX, and
/// the format of the weights that programs write.
std::string version_text();

}  // namespace fovea::tool
