// A model's code for GPUs as it travels: inside a built program, and as files.
#pragma once

#include <filesystem>
#include <string>

#include "codegen/plan/plan.h"

namespace fovea::tool {

/// A C++ source with the function `<name>_on_cuda(const fovea::runtime::Model&)`, the model as it
/// runs on a GPU. Where the model has no code for GPUs, the function throws a UserError that says
/// why.
std::string embedded_device_code(const plan::Model& model, const std::string& name);

/// Writes `<name>.<architecture>.ptx` for each architecture, with a table of what each kernel
/// takes where ptxas is installed, and `<name>.launches.json`, which says how to launch them.
/// UserError where a kernel has no form in PTX.
void write_ptx(const plan::Model& model, const std::string& name,
               const std::filesystem::path& folder);

}  // namespace fovea::tool
