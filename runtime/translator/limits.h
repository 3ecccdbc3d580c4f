// The ranges of the translator's options. They keep every product of two of them far from 2^63, and
// what is counted in 32 bits within them.
#pragma once

#include "../options.h"

namespace fovea::runtime {

inline constexpr std::int64_t kMostSteps = 1 << 20;  // tokens a sentence
inline constexpr std::int64_t kMostAtATime = 1 << 20;  // pairs, batches, rows of a decoder
inline constexpr std::int64_t kMostEpochs = 1'000'000'000;  // below 2^30: each has a random stream
inline constexpr std::int64_t kMostPairs = 4'294'967'295;  // their numbers have 32 bits
inline constexpr std::int64_t kMostTotalSteps = std::int64_t{1} << 53;  // exact as a double
inline constexpr std::int64_t kMostBeam = 4096;
inline constexpr std::int64_t kMostVocabulary = 1 << 24;

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
