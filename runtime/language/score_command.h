// `score`: how likely a text is.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// Prints the mean cross entropy of a text's tokens. `program` is the name that the user typed.
int score_command(const std::string& program, const Model& model,
                  std::span<const char* const> arguments);

}  // namespace fovea::runtime
