// `--version` of a built program.
#pragma once

#include "../program.h"

namespace fovea::runtime {

/// Whether that is all that the command line asks for.
bool asks_for_version(int argc, const char* const* argv);

/// Prints the model, who wrote and compiled its program, the instruction set that it takes on this
/// machine, and the format of its weights. Returns the exit status.
int print_version(const Model& model, const char* written_by, const char* compiled_by);

}  // namespace fovea::runtime
