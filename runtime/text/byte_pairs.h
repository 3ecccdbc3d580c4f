// Byte-pair encoding (Sennrich, Haddow and Birch 2016), as SentencePiece (Kudo and Richardson 2018)
// applies it: from the pieces alone, whose order is the order of the merges.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vocabulary.h"

namespace fovea::runtime {

/// The pieces of a vocabulary. Behind the reserved ones stand `<0x00>` to `<0xFF>` where what has
/// no piece falls back to its bytes, then the merged pieces, the first merge first, then single
/// characters. A space is `▁` (U+2581) in a piece.
class BytePairs {
  public:
    /// Throws UserError, which names `origin`, for a piece that is empty or holds white space, for
    /// one that no two of the pieces before it (and characters) make up, and for bytes that are not
    /// all 256.
    BytePairs(const Vocabulary& vocabulary, const std::string& origin);

    /// The pieces of a text whose words have one space between them. What has no piece stands as
    /// it is, neighbours together, or as its bytes.
    std::vector<std::string> encode(std::string_view text) const;
    /// The text of pieces, without spaces in front. Bytes that are no UTF-8 become U+FFFD, control
    /// characters spaces: it stays one line.
    std::string decode(const std::vector<std::string>& pieces) const;

  private:
    struct Symbol;

    bool has(std::string_view piece) const { return ranks_.contains(std::string(piece)); }
    void verify(const std::vector<std::string>& pieces, const std::string& origin) const;
    bool is_merge(std::string_view piece, std::size_t rank) const;
    std::vector<Symbol> merge(std::string_view text) const;
    bool is_byte(const std::string& piece) const;

    std::unordered_map<std::string, std::size_t> ranks_;  // of what merges may give
    bool has_bytes_ = false;
};

}  // namespace fovea::runtime
