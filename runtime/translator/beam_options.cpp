// --beam and --alpha: declared and read.
#include "beam_options.h"

#include <algorithm>

#include "limits.h"

namespace fovea::runtime {

void add_beam_options(Options& options) {
    using Kind = OptionKind;
    options.add(count_option("beam", "hypotheses that are followed; 1 is greedy", kMostBeam, "1"))
        .add({"alpha", Kind::number_from_zero, "X", "of the length penalty ((5 + length) / 6)^X",
              "0.6"});
}

BeamSettings beam_settings(const Options& options) {
    BeamSettings settings;
    settings.beam = options.integer("beam");
    settings.steps = options.given("steps") ? options.integer("steps") : 0;
    settings.alpha = options.number("alpha");
    return settings;
}

std::size_t sentences_at_a_time(const Options& options) {
    const std::int64_t most = kMostAtATime / options.integer("beam");
    return static_cast<std::size_t>(std::min(options.integer("batch"), most));
}

}  // namespace fovea::runtime
