// The environment variables that the command and the programs it writes read.
#pragma once

#include <span>

namespace fovea::tool {

struct EnvironmentVariable {
    const char *name, *what;
    bool of_programs;  // built programs read it too
};

/// By name; manual pages list them.
std::span<const EnvironmentVariable> environment_variables();

}  // namespace fovea::tool
