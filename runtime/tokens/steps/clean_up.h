// What decoders for people's eyes do to spaces and single bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fovea::runtime::tokens {

/// Takes out the spaces before signs and English contractions.
void clean_up(std::string& text);

/// How many bytes at the start of `bytes`, which start no whole character, are one mistake: the
/// longest start of a character, at least one byte.
std::size_t valid_start(std::string_view bytes);

}  // namespace fovea::runtime::tokens
