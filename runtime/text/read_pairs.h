// Reads sentence pairs from UTF-8 TSV, one pair a line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// A sentence and its translation, as they stand in the file.
struct SentencePair {
    std::string source, target;
};

/// The pairs of the file at `path`, at most `limit` of them (0: all), in the file's order. A line
/// is source, tab, target; further columns (an attribution) are ignored, as are blank lines, a byte
/// order mark and a carriage return at a line's end. Throws UserError, with file and line, where a
/// line has one column or is not UTF-8; and where the file can't be read or holds no pair.
std::vector<SentencePair> read_pairs(const std::string& path, std::size_t limit = 0);

/// The same from text; `name` is the file's name in errors.
std::vector<SentencePair> parse_pairs(std::string_view text, const std::string& name,
                                      std::size_t limit = 0);

}  // namespace fovea::runtime
