// `merge`: weights with the pairs of an adapter taken in.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// Writes weights that programs without pairs, and transformers, read. `program` is the name that
/// the user typed.
int merge_command(const std::string& program, const Model& model,
                  std::span<const char* const> arguments);

}  // namespace fovea::runtime
