// How a tokenizer cuts a text before its model does.
#pragma once

#include "../field.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

/// The pre-tokenizer that an object of a tokenizer.json describes. UserError for an unknown one.
PreTokenizer read_pre_tokenizer(const Field& field);

PreTokenizer read_metaspace(const Field& field);
PreTokenizer read_byte_level_pre_tokenizer(const Field& field);

/// Which pieces Metaspace starts with its mark.
enum class PrependScheme { always, first, never };
PrependScheme read_prepend_scheme(const Field& field);

/// Gives each piece that is no token the text that `rewrite(text, piece, out)` appends:
/// each character becomes a text of its own, behind what is put before all.
template <class Rewrite>
void rewrite_pieces(Pieces& pieces, Rewrite&& rewrite) {
    std::string out;
    out.reserve(pieces.text.size() + pieces.text.size() / 2);
    for (TextPiece& piece : pieces.pieces) {
        if (piece.token != kNoToken) continue;
        const std::size_t begin = out.size();
        const std::string_view text = pieces.view(piece);
        rewrite(text, piece, out);
        if (piece.first > 0) {
            std::string start;
            rewrite(text.substr(0, piece.first), piece, start);
            piece.first = start.size();
        }
        piece.begin = begin;
        piece.end = out.size();
    }
    pieces.text = std::move(out);
}

}  // namespace fovea::runtime::tokens
