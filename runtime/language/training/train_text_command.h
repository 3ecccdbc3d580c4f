// `train` of a language model.
#pragma once

#include <span>
#include <string>

#include "../../program.h"

namespace fovea::runtime {

/// Trains on texts, and writes weights, checkpoints and a log. `program` is the name that the user
/// typed. Returns 0, or 128 and the number of the signal that ended the training.
int train_text_command(const std::string& program, const Model& model,
                       std::span<const char* const> arguments);

}  // namespace fovea::runtime
