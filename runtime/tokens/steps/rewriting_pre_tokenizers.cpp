// Pre-tokenizers that change the text: spaces as SentencePiece's mark, and bytes as letters.
#include "../../text/utf8.h"
#include "byte_letters.h"
#include "pre_tokenizers.h"
#include "split.h"

namespace fovea::runtime::tokens {

namespace {

constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace

PrependScheme read_prepend_scheme(const Field& field) {
    const auto old = field.find("add_prefix_space");
    const auto scheme = field.find("prepend_scheme");
    if (!scheme) return !old || old->boolean() ? PrependScheme::always : PrependScheme::never;
    const std::string& name = scheme->text();
    if (name == "always") return PrependScheme::always;
    if (name == "first") return PrependScheme::first;
    if (name == "never") return PrependScheme::never;
    scheme->refuse("is '{}', and always, first or never is expected", {name});
}

PreTokenizer read_metaspace(const Field& field) {
    const char32_t replacement = field["replacement"].character();
    const PrependScheme scheme = read_prepend_scheme(field);
    const bool splits = field.boolean_or("split", true);
    std::string mark;
    append_character(mark, replacement);
    return [=](Pieces& pieces) {
        rewrite_pieces(pieces,
                       [&](std::string_view text, const TextPiece& piece, std::string& out) {
                           const bool has_mark = text.starts_with(' ') || text.starts_with(mark);
                           if (!has_mark && (scheme == PrependScheme::always ||
                                             (scheme == PrependScheme::first && piece.first > 0)))
                               out += mark;
                           for (const char c : text) {
                               if (c == ' ') {
                                   out += mark;
                               } else {
                                   out += c;
                               }
                           }
                       });
        if (!splits) return;
        split_pieces(pieces, SplitBehavior::merged_with_next, [&](std::string_view text) {
            return parts_at(text, [&](char32_t c) { return c == replacement; });
        });
    };
}

PreTokenizer read_byte_level_pre_tokenizer(const Field& field) {
    const bool adds_space = field.boolean_or("add_prefix_space", true);
    const bool cuts = field.boolean_or("use_regex", true);
    const Pattern pattern(kGpt2Pattern);
    return [=](Pieces& pieces) {
        if (adds_space)
            rewrite_pieces(pieces, [](std::string_view text, const TextPiece&, std::string& out) {
                if (!text.starts_with(' ')) out += ' ';
                out += text;
            });
        if (cuts)
            split_pieces(pieces, SplitBehavior::isolated, [&](std::string_view text) {
                return with_gaps(pattern.matches(text), text.size());
            });
        rewrite_pieces(pieces, [](std::string_view text, const TextPiece&, std::string& out) {
            append_letters(out, text);
        });
    };
}

}  // namespace fovea::runtime::tokens
