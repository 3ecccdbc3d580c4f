// `generate`: a text goes on, or is answered.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// Prints the tokens after prompts, or of answers to them, as they come. `program` is the name that
/// the user typed.
int generate_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments);

}  // namespace fovea::runtime
