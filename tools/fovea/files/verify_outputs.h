// Outputs of a command that are none of the files that it reads.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/arguments.h"

namespace fovea::tool {

/// UserError where an option for an output names a file that the command reads: one of the model's
/// sources, its weights, or a file of its checkpoint.
void verify_outputs(const Arguments& given, const std::vector<std::string>& sources);

}  // namespace fovea::tool
