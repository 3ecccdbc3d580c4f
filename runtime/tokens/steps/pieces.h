// A text on its way to tokens: cut into pieces, of which some are tokens already.
#pragma once

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
    bool is_first = false;          // it starts where what was to be encoded starts
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

/// A text that is being normalized, and whether it still starts with the first character of what
/// was to be encoded.
struct NormalText {
    std::string text;
    bool is_first = false;
};

using Normalizer = std::function<void(NormalText&)>;
using PreTokenizer = std::function<void(Pieces&)>;
/// Changes the texts of tokens; they are joined at the end.
using Decoder = std::function<void(std::vector<std::string>&)>;

}  // namespace fovea::runtime::tokens
