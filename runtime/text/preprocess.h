// Turns a sentence into words, as the d2l chapters do before training and translating.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// d2l's preprocessing: no-break spaces (U+00A0, U+202F) become spaces, letters lower case, and
/// each of , . ! ? gets a space before it unless it opens the text or follows a space. `text` is
/// UTF-8; UserError otherwise.
std::string preprocess(std::string_view text);

/// The words of a preprocessed sentence: split at ASCII white space, none of them empty.
std::vector<std::string> split_words(std::string_view text);

/// Words with one space between them.
std::string join_words(const std::vector<std::string>& words);

}  // namespace fovea::runtime
