// Pre-tokenizers by their type.
#include "pre_tokenizers.h"

#include <map>

#include "../unicode/unicode.h"
#include "split.h"

namespace fovea::runtime::tokens {

namespace {

PreTokenizer read_steps(const Field& field) {
    std::vector<PreTokenizer> steps;
    for (const Field& step : field.items("pretokenizers"))
        steps.push_back(read_pre_tokenizer(step));
    return [steps](Pieces& pieces) {
        for (const PreTokenizer& step : steps) step(pieces);
    };
}

PreTokenizer read_split(const Field& field) {
    const Pattern pattern = read_split_pattern(field["pattern"]);
    const SplitBehavior behavior = read_split_behavior(field["behavior"]);
    const bool inverts = field.boolean_or("invert", false);
    return [pattern, behavior, inverts](Pieces& pieces) {
        split_pieces(pieces, behavior, [&](std::string_view text) {
            std::vector<Part> parts = with_gaps(pattern.matches(text), text.size());
            if (inverts)
                for (Part& part : parts) part.is_match = !part.is_match;
            return parts;
        });
    };
}

/// Words, and what is neither a word nor white space.
std::vector<Part> words_and_signs(std::string_view text) {
    enum class Kind { space, word, sign };
    const auto kind_at = [&](std::size_t at) {
        const char32_t c = character_at(text, at);
        return is_word(c) ? Kind::word : is_white_space(c) ? Kind::space : Kind::sign;
    };
    std::vector<Part> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const Kind kind = kind_at(at);
        while (at < text.size() && kind_at(at) == kind) at += width_at(text, at);
        parts.push_back({begin, at, kind == Kind::space});
    }
    return parts;
}

PreTokenizer splitter(SplitBehavior behavior, bool (*is_cut)(char32_t)) {
    return [behavior, is_cut](Pieces& pieces) {
        split_pieces(pieces, behavior,
                     [&](std::string_view text) { return parts_at(text, is_cut); });
    };
}

PreTokenizer read_whitespace(const Field&) {
    return [](Pieces& pieces) { split_pieces(pieces, SplitBehavior::removed, words_and_signs); };
}

PreTokenizer read_whitespace_split(const Field&) {
    return splitter(SplitBehavior::removed, is_white_space);
}

PreTokenizer read_bert(const Field&) {
    return [](Pieces& pieces) {
        splitter(SplitBehavior::removed, is_white_space)(pieces);
        splitter(SplitBehavior::isolated, is_punctuation)(pieces);
    };
}

PreTokenizer read_punctuation(const Field& field) {
    const auto behavior = field.find("behavior");
    return splitter(behavior ? read_split_behavior(*behavior) : SplitBehavior::isolated,
                    is_punctuation);
}

PreTokenizer read_digits(const Field& field) {
    return splitter(
        field["individual_digits"].boolean() ? SplitBehavior::isolated : SplitBehavior::contiguous,
        is_numeric);
}

PreTokenizer read_delimiter(const Field& field) {
    const char32_t delimiter = field["delimiter"].character();
    return [delimiter](Pieces& pieces) {
        split_pieces(pieces, SplitBehavior::removed, [&](std::string_view text) {
            return parts_at(text, [&](char32_t c) { return c == delimiter; });
        });
    };
}

PreTokenizer read_fixed_length(const Field& field) {
    const std::uint32_t length = field.count_or("length", 5);
    if (length == 0) field["length"].refuse("is 0, and at least 1 is expected");
    return [length](Pieces& pieces) {
        split_pieces(pieces, SplitBehavior::isolated, [&](std::string_view text) {
            std::vector<Part> parts;
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t begin = at;
                for (std::uint32_t i = 0; i < length && at < text.size(); ++i)
                    at += width_at(text, at);
                parts.push_back({begin, at, false});
            }
            return parts;
        });
    };
}

}  // namespace

PreTokenizer read_pre_tokenizer(const Field& field) {
    static const std::map<std::string, PreTokenizer (*)(const Field&)> kinds = {
        {"Sequence", read_steps},
        {"Split", read_split},
        {"ByteLevel", read_byte_level_pre_tokenizer},
        {"Metaspace", read_metaspace},
        {"Whitespace", read_whitespace},
        {"WhitespaceSplit", read_whitespace_split},
        {"BertPreTokenizer", read_bert},
        {"Punctuation", read_punctuation},
        {"Digits", read_digits},
        {"CharDelimiterSplit", read_delimiter},
        {"FixedLength", read_fixed_length}};
    const Field type = field["type"];
    const auto kind = kinds.find(type.text());
    if (kind == kinds.end())
        type.refuse("is '{}', a pre-tokenizer without code here", {type.text()});
    return kind->second(field);
}

}  // namespace fovea::runtime::tokens
