// What readers take for one letter: extended grapheme clusters (UAX #29).
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea::runtime::tokens {

/// The end of the cluster that starts at byte `at`, which is before the end of the UTF-8 text.
std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace fovea::runtime::tokens
