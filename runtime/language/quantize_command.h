// `quantize`: weights of floats become those of whole numbers that a program takes.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// Writes weights as the model has them, and prints how far each is off. `program` is the name that
/// the user typed.
int quantize_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments);

}  // namespace fovea::runtime
