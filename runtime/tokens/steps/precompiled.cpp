// SentencePiece's rules for characters (its `precompiled_charsmap`): a double-array trie (darts) of
// what is replaced, and the texts that replace it, in base 64.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../text/utf8.h"
#include "../character.h"
#include "../unicode/graphemes.h"
#include "edit_text.h"
#include "normalizers.h"

namespace fovea::runtime::tokens {

namespace {

std::optional<std::string> bytes_of_base64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::array<int, 256> values;
    values.fill(-1);
    for (std::size_t i = 0; i < kDigits.size(); ++i)
        values[static_cast<unsigned char>(kDigits[i])] = int(i);
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const int value = values[static_cast<unsigned char>(c)];
        if (value < 0) return std::nullopt;
        bits = bits << 6 | std::uint32_t(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xFF);
        }
    }
    return bytes;
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i)
        word |= std::uint32_t(static_cast<unsigned char>(bytes[at + i])) << 8 * i;
    return word;
}

/// Units of a double-array trie, as darts-clone lays out their bits.
class CharacterMap {
  public:
    CharacterMap(std::vector<std::uint32_t> units, std::string texts)
        : units_(std::move(units)), texts_(std::move(texts)) {}

    /// What replaces a text of which a key is the start; the shortest such key counts, and all of
    /// the text is replaced.
    std::optional<std::string_view> replacement(std::string_view text) const {
        const std::optional<std::uint32_t> value = shortest_key(text);
        if (!value || *value >= texts_.size()) return std::nullopt;
        if ((texts_[*value] & 0xC0) == 0x80) return std::nullopt;  // inside a character
        const std::string_view rest = std::string_view(texts_).substr(*value);
        return rest.substr(0, rest.find('\0'));
    }

  private:
    static std::uint32_t offset_of(std::uint32_t unit) {
        return unit >> 10 << ((unit & (1u << 9)) >> 6);
    }

    std::optional<std::uint32_t> shortest_key(std::string_view text) const {
        if (units_.empty()) return std::nullopt;
        std::size_t at = offset_of(units_[0]);
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte == 0) return std::nullopt;
            at ^= byte;
            if (at >= units_.size()) return std::nullopt;
            const std::uint32_t unit = units_[at];
            if ((unit & ((1u << 31) | 0xFF)) != byte) return std::nullopt;
            at ^= offset_of(unit);
            const bool has_value = (unit >> 8 & 1) != 0;
            if (has_value && at < units_.size()) return units_[at] & 0x7FFFFFFF;
        }
        return std::nullopt;
    }

    std::vector<std::uint32_t> units_;
    std::string texts_;
};

constexpr std::size_t kLongestWholeGrapheme = 5;  // in bytes; longer ones go by characters

std::string with_characters_mapped(const CharacterMap& map, std::string_view text) {
    std::string out;
    out.reserve(text.size());
    const auto add = [&](std::string_view part) {
        const std::optional<std::string_view> other = map.replacement(part);
        if (other) out += *other;
        return other.has_value();
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = grapheme_end(text, at);
        const std::string_view grapheme = text.substr(at, end - at);
        at = end;
        if (grapheme.size() <= kLongestWholeGrapheme && add(grapheme)) continue;
        for (std::size_t i = 0; i < grapheme.size(); i += width_at(grapheme, i)) {
            const std::string_view character = grapheme.substr(i, width_at(grapheme, i));
            if (!add(character)) out += character;
        }
    }
    return out;
}

}  // namespace

Normalizer read_precompiled(const Field& field) {
    const Field packed = field["precompiled_charsmap"];
    const std::optional<std::string> bytes = bytes_of_base64(packed.text());
    if (!bytes) packed.refuse("is not in base 64");
    if (bytes->size() < 4) packed.refuse("is too short");
    const std::size_t size = word_at(*bytes, 0);
    if (size % 4 != 0 || size > bytes->size() - 4)
        packed.refuse("has a trie of {} bytes and {} bytes after its size",
                      {size, bytes->size() - 4});
    std::vector<std::uint32_t> units;
    for (std::size_t at = 4; at < 4 + size; at += 4) units.push_back(word_at(*bytes, at));
    const std::string texts = bytes->substr(4 + size);
    if (find_invalid_utf8(texts) != texts.size()) packed.refuse("has texts that are not UTF-8");
    const auto map = std::make_shared<const CharacterMap>(std::move(units), texts);
    return [map](NormalText& text) {
        edit(text, [&](std::string_view whole) { return with_characters_mapped(*map, whole); });
    };
}

}  // namespace fovea::runtime::tokens
