// The main function of a generic built program: run, bench, describe.
#pragma once

#include "../program.h"

namespace fovea::runtime {

/// Runs the subcommand on the command line for this model. Returns the exit status: 0, 2 for a
/// mistake of the user (one sentence on standard error), 3 for a mistake of ours.
int runner_main(int argc, char** argv, const Model& model);

}  // namespace fovea::runtime
