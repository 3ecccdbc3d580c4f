// The main function of a generic built program: run, bench, describe, and of models with weights of
// 8 or 4 bits quantize.
#pragma once

#include <span>
#include <string>

#include "../program.h"

namespace fovea::runtime {

/// A subcommand that some programs have beside these.
struct RunnerCommand {
    const char* name;
    const char* summary;
    int (*run)(const std::string& program, const Model& model,
               std::span<const char* const> arguments);
};

/// Runs the subcommand on the command line for this model. Returns the exit status: 0, 2 for a
/// mistake of the user (one sentence on standard error), 3 for a mistake of ours.
int runner_main(int argc, char** argv, const Model& model);
int runner_main(int argc, char** argv, const Model& model, std::span<const RunnerCommand> more);

}  // namespace fovea::runtime
