// `quantize`: weights of floats become those of whole numbers that a program takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// What `--to` and `--group` ask for. UserError where there is no such type or group.
WeightStorage chosen_storage(const std::string& type, std::int64_t group);

/// Writes the weights of floats at `path`, a file or the folder of a checkpoint, to the file
/// `output`: as `storage` says where the model has whole numbers. Prints how far each is off.
/// UserError where these are no weights of the model, or the model has no whole numbers.
void quantize_weights(const Model& model, WeightStorage storage, const std::string& path,
                      const std::string& output);

/// The same as a command of the model's program. `program` is the name that the user typed.
int quantize_command(const std::string& program, const Model& model,
                     std::span<const char* const> arguments);

}  // namespace fovea::runtime
