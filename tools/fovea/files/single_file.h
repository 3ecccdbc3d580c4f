// A model with all that it needs in two files, for builds that take one source.
#pragma once

#include <filesystem>
#include <string>

#include "codegen/plan/plan.h"

namespace fovea::tool {

/// Writes `folder`/NAME.h and `folder`/NAME.cpp, which include nothing but the C++ and OpenMP
/// libraries: of the runtime they hold what the model's interfaces for C and C++ use. The kernels
/// are for one instruction set, whose flags the source asks for.
void write_single_file(const plan::Model& model, const std::filesystem::path& folder,
                       const std::string& isa);

}  // namespace fovea::tool
