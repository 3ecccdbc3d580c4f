// The ranges of options. They keep every product of two of them far from 2^63, and what is counted
// in 32 bits within them.
#pragma once

#include "../options.h"

namespace fovea::runtime {

inline constexpr std::int64_t kMostSteps = 1 << 20;    // tokens of a sentence or a window
inline constexpr std::int64_t kMostAtATime = 1 << 20;  // examples, batches, rows of a decoder
inline constexpr std::int64_t kMostEpochs = 1'000'000'000;  // below 2^30: each has a random stream
inline constexpr std::int64_t kMostExamples = 4'294'967'295;  // their numbers have 32 bits
inline constexpr std::int64_t kMostTotalSteps = std::int64_t{1} << 53;  // exact as a double

/// An option for a whole number from 1 to `most`.
constexpr OptionSpec count_option(const char* name, const char* help, std::int64_t most,
                                  const char* default_text = nullptr) {
    return {.name = name,
            .kind = OptionKind::positive_whole,
            .value_name = "N",
            .help = help,
            .default_text = default_text,
            .most = most};
}

}  // namespace fovea::runtime
