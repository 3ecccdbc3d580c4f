// The options of commands that decode.
#pragma once

#include "../options.h"
#include "beam_search.h"

namespace fovea::runtime {

/// --beam and --alpha.
void add_beam_options(Options& options);

/// Those, and --steps: 0 where it is not given.
BeamSettings beam_settings(const Options& options);

/// --batch, but no more than the rows of a decoder allow with --beam; no translation depends on it.
std::size_t sentences_at_a_time(const Options& options);

}  // namespace fovea::runtime
