// A model as a Python package.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace fovea::tool {

/// Compiles the model into a library for these instruction sets, and writes the package around it
/// to `folder`, which exists: `pip install FOLDER`.
void write_python(const plan::Model& model, const std::filesystem::path& folder,
                  const std::vector<std::string>& isas);

}  // namespace fovea::tool
