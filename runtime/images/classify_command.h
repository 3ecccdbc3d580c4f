// `classify`: the likeliest classes of images.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// The subcommand, with what follows it on the command line; the exit status. `program` names it in
/// the help.
int classify_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments);

}  // namespace fovea::runtime
