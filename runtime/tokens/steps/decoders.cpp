// Decoders by their type.
#include "decoders.h"

#include <map>

#include "../../text/utf8.h"
#include "../models/byte_fallback.h"
#include "byte_letters.h"
#include "clean_up.h"
#include "edit_text.h"
#include "pre_tokenizers.h"
#include "split.h"

namespace fovea::runtime::tokens {

namespace {

using Texts = std::vector<std::string>;

Decoder read_decoders(const Field& field) {
    std::vector<Decoder> steps;
    for (const Field& step : field.items("decoders")) steps.push_back(read_decoder(step));
    return [steps](Texts& texts) {
        for (const Decoder& step : steps) step(texts);
    };
}

/// A token that holds anything but letters of bytes stands for itself.
void append_bytes(std::string& bytes, const std::string& token) {
    const std::size_t start = bytes.size();
    bool is_letters = true;
    each_character(token, [&](char32_t c) {
        const auto byte = byte_of(c);
        is_letters = is_letters && byte.has_value();
        if (is_letters) bytes += static_cast<char>(*byte);
    });
    if (is_letters) return;
    bytes.resize(start);
    bytes += token;
}

Decoder read_byte_level_decoder(const Field&) {
    return [](Texts& texts) {
        std::string bytes;
        for (const std::string& token : texts) append_bytes(bytes, token);
        texts.assign(1, with_replacements(bytes));
    };
}

Decoder read_metaspace_decoder(const Field& field) {
    const char32_t replacement = field["replacement"].character();
    const bool has_prefix = read_prepend_scheme(field) != PrependScheme::never;
    return [=](Texts& texts) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            std::string out;
            each_character(texts[i], [&](char32_t c) {
                if (c != replacement) return append_character(out, c);
                if (i != 0 || !has_prefix) out += ' ';
            });
            texts[i] = std::move(out);
        }
    };
}

Decoder read_word_piece_decoder(const Field& field) {
    const std::string prefix = field.text_or("prefix", "##");
    const bool cleans = field.boolean_or("cleanup", true);
    return [=](Texts& texts) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (i != 0) {
                if (texts[i].starts_with(prefix)) {
                    texts[i].erase(0, prefix.size());
                } else {
                    texts[i].insert(0, " ");
                }
            }
            if (cleans) clean_up(texts[i]);
        }
    };
}

Decoder read_byte_fallback(const Field&) {
    return [](Texts& texts) {
        Texts out;
        std::string bytes;
        const auto flush = [&] {
            if (bytes.empty()) return;
            if (find_invalid_utf8(bytes) == bytes.size()) {
                out.push_back(bytes);
            } else {
                out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
            }
            bytes.clear();
        };
        for (std::string& token : texts) {
            if (const auto byte = byte_of_token(token)) {
                bytes += static_cast<char>(*byte);
            } else {
                flush();
                out.push_back(std::move(token));
            }
        }
        flush();
        texts.swap(out);
    };
}

Decoder read_fuse(const Field&) {
    return [](Texts& texts) {
        std::string all;
        for (const std::string& token : texts) all += token;
        texts.assign(1, all);
    };
}

Decoder read_strip_decoder(const Field& field) {
    std::string content;
    append_character(content, field["content"].character());
    const std::uint32_t start = field["start"].count(), stop = field["stop"].count();
    return [=](Texts& texts) {
        for (std::string& text : texts) {
            std::size_t begin = 0, end = text.size();
            for (std::uint32_t i = 0; i < start && text.substr(begin).starts_with(content); ++i)
                begin += content.size();
            for (std::uint32_t i = 0; i < stop && end >= begin + content.size() &&
                                      text.substr(0, end).ends_with(content);
                 ++i)
                end -= content.size();
            text = text.substr(begin, end - begin);
        }
    };
}

Decoder read_replace_decoder(const Field& field) {
    const Pattern pattern = read_split_pattern(field["pattern"]);
    const std::string content = field["content"].text();
    return [=](Texts& texts) {
        for (std::string& text : texts) text = with_replaced(text, pattern.matches(text), content);
    };
}

Decoder read_byte_pairs_decoder(const Field& field) {
    const Pattern suffix = Pattern::of_text(field.text_or("suffix", "</w>"));
    return [=](Texts& texts) {
        for (std::string& text : texts)
            text = with_replaced(text, suffix.matches(text), &text == &texts.back() ? "" : " ");
    };
}

/// Repeated tokens count once, and the one for nothing not at all (Graves et al. 2006).
Decoder read_ctc(const Field& field) {
    const std::string pad = field.text_or("pad_token", "<pad>");
    const std::string delimiter = field.text_or("word_delimiter_token", "|");
    const bool cleans = field.boolean_or("cleanup", true);
    const Pattern nothing = Pattern::of_text(pad), space = Pattern::of_text(delimiter);
    return [=](Texts& texts) {
        texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
        for (std::string& text : texts) {
            text = with_replaced(text, nothing.matches(text), "");
            if (!cleans) continue;
            clean_up(text);
            text = with_replaced(text, space.matches(text), " ");
        }
        std::erase(texts, "");
    };
}

}  // namespace

std::string with_replacements(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t begin = at;
        if (decode_character(bytes, at) != kNotACharacter) {
            text += bytes.substr(begin, at - begin);
            continue;
        }
        append_character(text, 0xFFFD);
        at += valid_start(bytes.substr(at));
    }
    return text;
}

Decoder read_decoder(const Field& field) {
    static const std::map<std::string, Decoder (*)(const Field&)> kinds = {
        {"Sequence", read_decoders},
        {"ByteLevel", read_byte_level_decoder},
        {"Metaspace", read_metaspace_decoder},
        {"WordPiece", read_word_piece_decoder},
        {"ByteFallback", read_byte_fallback},
        {"Fuse", read_fuse},
        {"Strip", read_strip_decoder},
        {"Replace", read_replace_decoder},
        {"BPEDecoder", read_byte_pairs_decoder},
        {"CTC", read_ctc}};
    const Field type = field["type"];
    const auto kind = kinds.find(type.text());
    if (kind == kinds.end()) type.refuse("is '{}', a decoder without code here", {type.text()});
    return kind->second(field);
}

}  // namespace fovea::runtime::tokens
