// The translator's subcommands. Each takes its arguments without the program's and its own name,
// and the program's name for --help; returns the exit status or throws.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

using Arguments = std::span<const char* const>;

int train_command(const std::string& program, Arguments arguments, const Model& model);
int translate_command(const std::string& program, Arguments arguments, const Model& model);
int evaluate_command(const std::string& program, Arguments arguments, const Model& model);
int bench_command(const std::string& program, Arguments arguments, const Model& model);

}  // namespace fovea::runtime
