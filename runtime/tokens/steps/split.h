// Cutting pieces at what matches, and what becomes of the matches.
#pragma once

#include <string_view>
#include <vector>

#include "../character.h"
#include "../field.h"
#include "../pattern/pattern.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous.
SplitBehavior read_split_behavior(const Field& field);

/// The pattern of a Split or a Replace: {"String": …} or {"Regex": …}.
Pattern read_split_pattern(const Field& field);

/// Part of a piece, and whether it is a match.
struct Part {
    std::size_t begin, end;
    bool is_match;
};

/// The matches, and what stands between them.
std::vector<Part> with_gaps(const std::vector<PatternMatch>& matches, std::size_t size);

/// Adds what the behaviour makes of the parts of a piece.
void add_parts(std::vector<TextPiece>& out, const TextPiece& piece, const std::vector<Part>& parts,
               SplitBehavior behavior);

/// Cuts each piece that is no token into the parts that `parts_of(its text)` gives.
template <class PartsOf>
void split_pieces(Pieces& pieces, SplitBehavior behavior, PartsOf&& parts_of) {
    std::vector<TextPiece> out;
    out.reserve(pieces.pieces.size());
    for (const TextPiece& piece : pieces.pieces) {
        if (piece.token != kNoToken) {
            out.push_back(piece);
        } else {
            add_parts(out, piece, parts_of(pieces.view(piece)), behavior);
        }
    }
    pieces.pieces.swap(out);
}

/// The characters for which `is_cut` holds, each a match, and what stands between them.
template <class IsCut>
std::vector<Part> parts_at(std::string_view text, IsCut&& is_cut) {
    std::vector<Part> parts;
    std::size_t last = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = at + width_at(text, at);
        if (is_cut(character_at(text, at))) {
            if (last < at) parts.push_back({last, at, false});
            parts.push_back({at, end, true});
            last = end;
        }
        at = end;
    }
    if (last < text.size()) parts.push_back({last, text.size(), false});
    return parts;
}

}  // namespace fovea::runtime::tokens
