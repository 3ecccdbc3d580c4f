// A text on its way to tokens: cut into pieces, of which some are tokens already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime::tokens {

inline constexpr std::int32_t kNoToken = -1;

/// Bytes `begin` to `end` of the text that it is cut from.
struct TextPiece {
    std::size_t begin = 0, end = 0;
    std::size_t first = 0;  // bytes at its start that are of the first character of all the text
    std::int32_t token = kNoToken;  // an added token that stood there
};

/// A text and its pieces, in order and without empty ones.
struct Pieces {
    std::string text;
    std::vector<TextPiece> pieces;

    std::string_view view(const TextPiece& piece) const {
        return std::string_view(text).substr(piece.begin, piece.end - piece.begin);
    }
};

/// The bytes from `begin` to `end` that are among the first `first`.
inline std::size_t first_of_part(std::size_t first, std::size_t begin, std::size_t end) {
    return begin < first ? std::min(first, end) - begin : 0;
}

/// A text that is being normalized, and how many bytes at its start come from the first character
/// of what was to be encoded, or stand before that: what is cut within them starts there, too.
struct NormalText {
    std::string text;
    std::size_t first = 0;
};

using Normalizer = std::function<void(NormalText&)>;
using PreTokenizer = std::function<void(Pieces&)>;
/// Changes the texts of tokens; they are joined at the end.
using Decoder = std::function<void(std::vector<std::string>&)>;

}  // namespace fovea::runtime::tokens
