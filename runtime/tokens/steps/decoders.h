// How the texts of tokens become a text again.
#pragma once

#include "../field.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

/// The decoder that an object of a tokenizer.json describes. UserError for one that is unknown.
Decoder read_decoder(const Field& field);

/// What is no UTF-8 in `bytes` replaced by U+FFFD: one for each longest start of a character.
std::string with_replacements(std::string_view bytes);

}  // namespace fovea::runtime::tokens
