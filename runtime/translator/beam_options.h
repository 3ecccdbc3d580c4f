// The options of commands that decode.
#pragma once

#include "../options.h"
#include "beam_search.h"

namespace fovea::runtime {

/// --beam and --alpha.
void add_beam_options(Options& options);

/// Those, and --steps. UserError for an alpha below 0.
BeamSettings beam_settings(const Options& options);

}  // namespace fovea::runtime
