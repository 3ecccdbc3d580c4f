// SentencePiece's order of merges: the piece of the least rank first, of equals the leftmost.
#include "byte_pairs.h"

#include <algorithm>
#include <queue>

#include "../error.h"
#include "utf8.h"

namespace fovea::runtime {

namespace {

constexpr std::string_view kSpace = "\u2581";
constexpr std::size_t kReservedIds = kEnd + 1, kBytes = 256;

std::string byte_piece(unsigned char byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

/// Where the character that starts at `at` ends.
std::size_t character_end(std::string_view text, std::size_t at) {
    const std::size_t begin = at;
    decode_character(text, at);
    return at > begin ? at : begin + 1;
}

/// One in front, none at the end, as SentencePiece has it: a text may hold marks of its own.
std::string with_marks(std::string_view text) {
    std::string marked(kSpace);
    for (const char c : text)
        if (c == ' ') marked += kSpace;
        else marked += c;
    while (marked.ends_with(kSpace)) marked.resize(marked.size() - kSpace.size());
    return marked;
}

std::string without_marks(const std::string& text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        const bool is_space = text.compare(at, kSpace.size(), kSpace) == 0;
        plain += is_space || static_cast<unsigned char>(text[at]) < ' ' ? ' ' : text[at];
        at += is_space ? kSpace.size() : 1;
    }
    return plain.substr(std::min(plain.find_first_not_of(' '), plain.size()));
}

/// Appends bytes that are to be characters.
void append_valid(std::string& text, std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t begin = at;
        if (decode_character(bytes, at) == kNotACharacter) {
            append_character(text, 0xFFFD);
            at = begin + 1;
        } else {
            text += bytes.substr(begin, at - begin);
        }
    }
}

}  // namespace

/// A part of the text, in a list; merged into its left neighbour it has no bytes.
struct BytePairs::Symbol {
    std::string_view bytes;
    std::ptrdiff_t before, behind;
};

BytePairs::BytePairs(const Vocabulary& vocabulary, const std::string& origin) {
    std::vector<std::string> pieces;
    for (std::size_t id = kReservedIds; id < vocabulary.size(); ++id)
        pieces.push_back(vocabulary.word(static_cast<std::int32_t>(id)));
    has_bytes_ = !pieces.empty() && pieces.front() == byte_piece(0);
    if (has_bytes_) {
        for (std::size_t byte = 0; byte < kBytes; ++byte) {
            const std::string expected = byte_piece(static_cast<unsigned char>(byte));
            if (byte < pieces.size() && pieces[byte] == expected) continue;
            throw UserError(origin + ": piece " + std::to_string(kReservedIds + byte) +
                            " should be " + expected + ": where bytes are pieces, all 256 are");
        }
    }
    for (std::size_t rank = has_bytes_ ? kBytes : 0; rank < pieces.size(); ++rank)
        ranks_.emplace(pieces[rank], rank);
    verify(pieces, origin);
}

void BytePairs::verify(const std::vector<std::string>& pieces, const std::string& origin) const {
    for (std::size_t rank = has_bytes_ ? kBytes : 0; rank < pieces.size(); ++rank) {
        const std::string& piece = pieces[rank];
        const std::string start = origin + ": piece " + std::to_string(kReservedIds + rank);
        if (piece.empty()) throw UserError(start + " is empty");
        if (piece.find_first_of(" \t\n\v\f\r") != std::string::npos)
            throw UserError(start + ", '" + piece + "', holds white space; a space is written ▁");
        if (!is_merge(piece, rank))
            throw UserError(start + ", '" + piece +
                            "', is not made of two pieces before it; the pieces should stand in "
                            "the order of their merges, as tools/learn_bpe.py writes them");
    }
}

/// Whether the piece is one character, or two pieces that are characters or came before it.
bool BytePairs::is_merge(std::string_view piece, std::size_t rank) const {
    const std::size_t first = character_end(piece, 0);
    if (first == piece.size()) return true;
    const auto is_known = [&](std::string_view part) {
        const auto found = ranks_.find(std::string(part));
        return found != ranks_.end() &&
               (found->second < rank || character_end(part, 0) == part.size());
    };
    for (std::size_t cut = first; cut < piece.size(); cut = character_end(piece, cut))
        if (is_known(piece.substr(0, cut)) && is_known(piece.substr(cut))) return true;
    return false;
}

std::vector<BytePairs::Symbol> BytePairs::merge(std::string_view text) const {
    struct Merge {
        std::size_t rank;
        std::ptrdiff_t left, right;
        std::size_t bytes;
        bool operator<(const Merge& other) const {
            return rank != other.rank ? rank > other.rank : left > other.left;
        }
    };
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = character_end(text, at);
        const auto number = static_cast<std::ptrdiff_t>(symbols.size());
        symbols.push_back(
            {text.substr(at, end - at), number - 1, end < text.size() ? number + 1 : -1});
        at = end;
    }
    std::priority_queue<Merge> merges;
    const auto offer = [&](std::ptrdiff_t left, std::ptrdiff_t right) {
        if (left < 0 || right < 0) return;
        const std::string_view a = symbols[left].bytes, b = symbols[right].bytes;
        const auto found = ranks_.find(std::string(a.data(), a.size() + b.size()));
        if (found != ranks_.end()) merges.push({found->second, left, right, a.size() + b.size()});
    };
    for (std::size_t i = 1; i < symbols.size(); ++i)
        offer(static_cast<std::ptrdiff_t>(i) - 1, static_cast<std::ptrdiff_t>(i));
    while (!merges.empty()) {
        const Merge best = merges.top();
        merges.pop();
        Symbol &left = symbols[best.left], &right = symbols[best.right];
        const bool is_stale = left.bytes.empty() || right.bytes.empty() ||
                              left.bytes.size() + right.bytes.size() != best.bytes;
        if (is_stale) continue;
        // The right one stands behind it in the same text.
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
        left.bytes = std::string_view(left.bytes.data(), best.bytes);
        right.bytes = {};
        left.behind = right.behind;
        if (left.behind >= 0) symbols[left.behind].before = best.left;
        offer(left.before, best.left);
        offer(best.left, left.behind);
    }
    return symbols;
}

std::vector<std::string> BytePairs::encode(std::string_view text) const {
    std::vector<std::string> pieces;
    const std::string marked = with_marks(text);
    bool follows_unknown = false;
    for (const Symbol& symbol : merge(marked)) {
        if (symbol.bytes.empty()) continue;
        const bool is_known = has(symbol.bytes);
        if (!is_known && has_bytes_) {
            for (const char c : symbol.bytes)
                pieces.push_back(byte_piece(static_cast<unsigned char>(c)));
        } else if (!is_known && follows_unknown) {
            pieces.back() += symbol.bytes;
        } else {
            pieces.emplace_back(symbol.bytes);
        }
        follows_unknown = !is_known;
    }
    return pieces;
}

bool BytePairs::is_byte(const std::string& piece) const {
    return has_bytes_ && piece.size() == 6 && piece.starts_with("<0x") && !has(piece);
}

std::string BytePairs::decode(const std::vector<std::string>& pieces) const {
    std::string text, bytes;
    for (const std::string& piece : pieces) {
        if (is_byte(piece)) {
            bytes += static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16));
            continue;
        }
        append_valid(text, bytes);
        bytes.clear();
        text += piece;
    }
    append_valid(text, bytes);
    return without_marks(text);
}

}  // namespace fovea::runtime
