// --beam and --alpha: declared and read.
#include "beam_options.h"

#include "../error.h"

namespace fovea::runtime {

void add_beam_options(Options& options) {
    using Kind = OptionKind;
    options
        .add({"beam", Kind::positive_whole, "N", "hypotheses that are followed; 1 is greedy", "1"})
        .add({"alpha", Kind::number, "X", "of the length penalty ((5 + length) / 6)^X", "0.6"});
}

BeamSettings beam_settings(const Options& options) {
    BeamSettings settings;
    settings.beam = options.integer("beam");
    settings.steps = options.integer("steps");
    settings.alpha = options.number("alpha");
    if (settings.alpha < 0) throw UserError("option '--alpha' expects a number from 0");
    return settings;
}

}  // namespace fovea::runtime
