// A program of a built-in model with its small settings, for tests of what programs say.
#pragma once

#include <string>

#include "models/registry.h"

namespace fovea::test {

/// Builds the model with `small_settings` into the file `program`, for this machine's instruction
/// set alone and little optimized. The test fails with what was printed where it does not build.
void build_small_program(const ModelEntry& entry, const std::string& program);

}  // namespace fovea::test
