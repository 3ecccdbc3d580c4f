// `--threads`, as commands of built programs have it.
#pragma once

#include "../options.h"

namespace fovea::runtime {

OptionSpec threads_option();

/// Takes as many threads as the option says, else as many as there would be.
void use_threads(const Options& options);

}  // namespace fovea::runtime
