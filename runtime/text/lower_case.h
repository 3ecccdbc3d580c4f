// Unicode lower case without the C++ locale: the same text gives the same words on every machine.
#pragma once

#include <string>

namespace fovea::runtime {

/// The lower case of every character, as Python's str.lower() has it: simple mappings, and the two
/// that are not simple, İ to i and a dot above, and Σ to ς where it ends a word.
std::u32string lower_case(const std::u32string& text);

/// The simple lower case of one character, without regard to its place.
char32_t simple_lower_case(char32_t c);

}  // namespace fovea::runtime
