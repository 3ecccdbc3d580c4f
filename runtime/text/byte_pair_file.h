// The pieces of two languages, as tools/learn_bpe.py writes them.
#pragma once

#include <string>

#include "tokenizer.h"

namespace fovea::runtime {

/// What a file of pieces holds.
struct PieceFile {
    TokenKind kind = TokenKind::byte_pairs;
    Vocabulary source, target;
};

/// Reads `{"tokens": "byte_pairs" or "cased_byte_pairs", "source": [pieces], "target": [pieces]}`.
/// UserError, which names the file, where it can't be read, is something else, or holds pieces that
/// Vocabulary or BytePairs refuse.
PieceFile read_piece_file(const std::string& path);

}  // namespace fovea::runtime
