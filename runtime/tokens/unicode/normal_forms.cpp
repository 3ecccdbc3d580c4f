// Taken apart by the tables, ordered by combining class, and put together by pairs.
#include "normal_forms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../text/utf8.h"
#include "../character.h"
#include "canonical_table.h"
#include "compatibility_table.h"
#include "packed_numbers.h"

namespace fovea::runtime::tokens {

namespace {

// Syllables of Hangul follow from their letters by arithmetic.
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

/// What a character is made of: `count` of `targets`, from `first` on.
struct Parts {
    std::uint32_t first = 0, count = 0;
};

struct FormTables {
    std::unordered_map<char32_t, Parts> canonical, compatible;
    std::vector<char32_t> targets;
    std::unordered_map<std::uint64_t, char32_t> composed;  // by both parts
    std::unordered_map<char32_t, std::uint8_t> classes;
};

std::uint64_t pair_key(char32_t first, char32_t second) {
    return std::uint64_t{first} << 32 | second;
}

FormTables read_form_tables() {
    FormTables tables;
    const auto take = [&](PackedNumbers& numbers, std::uint32_t count) {
        const Parts parts{std::uint32_t(tables.targets.size()), count};
        for (std::uint32_t i = 0; i < count; ++i) tables.targets.push_back(numbers.next());
        return parts;
    };
    char32_t at = 0;
    for (PackedNumbers numbers(kCanonical); !numbers.at_end();) {
        at += numbers.next();
        const std::uint32_t kind = numbers.next();
        const Parts parts = take(numbers, kind / 2 + 1);
        tables.canonical[at] = parts;
        if (kind == 2)
            tables
                .composed[pair_key(tables.targets[parts.first], tables.targets[parts.first + 1])] =
                at;
    }
    at = 0;
    for (PackedNumbers numbers(kCompatible); !numbers.at_end();) {
        at += numbers.next();
        const std::uint32_t count = numbers.next();
        tables.compatible[at] = take(numbers, count);
    }
    at = 0;
    for (PackedNumbers numbers(kCombiningClasses); !numbers.at_end();) {
        at += numbers.next();
        const std::uint32_t count = numbers.next();
        const auto value = static_cast<std::uint8_t>(numbers.next());
        for (std::uint32_t i = 0; i < count; ++i, ++at) tables.classes[at] = value;
    }
    return tables;
}

const FormTables& form_tables() {
    static const FormTables tables = read_form_tables();
    return tables;
}

struct Ordered {
    char32_t character;
    std::uint8_t combining_class;
    std::uint32_t place = 0;  // among the marks that follow each other
};

std::uint8_t class_of(char32_t c) {
    if (c < 0x300) return 0;
    const auto found = form_tables().classes.find(c);
    return found == form_tables().classes.end() ? 0 : found->second;
}

void take_apart(char32_t c, bool is_compatible, std::vector<Ordered>& out) {
    const FormTables& tables = form_tables();
    if (c >= kSyllables && c < kSyllables + kSyllableCount) {
        const char32_t index = c - kSyllables, tail = index % kTailCount;
        out.push_back({kLeads + index / (kVowelCount * kTailCount), 0});
        out.push_back({kVowels + index / kTailCount % kVowelCount, 0});
        if (tail != 0) out.push_back({kTails + tail, 0});
        return;
    }
    const auto expand = [&](Parts parts) {
        for (std::uint32_t i = 0; i < parts.count; ++i)
            take_apart(tables.targets[parts.first + i], is_compatible, out);
    };
    if (const auto found = tables.canonical.find(c); found != tables.canonical.end())
        return expand(found->second);
    if (is_compatible)
        if (const auto found = tables.compatible.find(c); found != tables.compatible.end())
            return expand(found->second);
    out.push_back({c, class_of(c)});
}

/// Puts marks that follow each other into the order of their classes.
void put_in_order(std::vector<Ordered>& characters) {
    for (auto at = characters.begin(); at != characters.end();) {
        if (at->combining_class == 0) {
            ++at;
            continue;
        }
        const auto end = std::find_if(at, characters.end(),
                                      [](const Ordered& c) { return c.combining_class == 0; });
        for (auto mark = at; mark != end; ++mark) mark->place = std::uint32_t(mark - at);
        std::sort(at, end, [](const Ordered& a, const Ordered& b) {
            return std::pair(a.combining_class, a.place) < std::pair(b.combining_class, b.place);
        });
        at = end;
    }
}

/// The one that both make up, or 0.
char32_t composed(char32_t first, char32_t second) {
    const char32_t lead = first - kLeads, vowel = second - kVowels;
    if (lead < kLeadCount && vowel < kVowelCount)
        return kSyllables + (lead * kVowelCount + vowel) * kTailCount;
    const char32_t syllable = first - kSyllables, tail = second - kTails;
    if (syllable < kSyllableCount && syllable % kTailCount == 0 && tail > 0 && tail < kTailCount)
        return first + tail;
    const auto found = form_tables().composed.find(pair_key(first, second));
    return found == form_tables().composed.end() ? 0 : found->second;
}

void compose(std::vector<Ordered>& characters) {
    constexpr std::size_t kNoStarter = ~std::size_t{0};
    std::size_t starter = kNoStarter, kept = 0;
    std::uint8_t last_class = 0;  // of what was kept behind the starter
    for (const Ordered c : characters) {
        const bool is_next = starter != kNoStarter && starter + 1 == kept;
        const bool is_open = is_next || (last_class != 0 && last_class < c.combining_class);
        if (starter != kNoStarter && is_open)
            if (const char32_t both = composed(characters[starter].character, c.character)) {
                characters[starter].character = both;
                continue;
            }
        if (c.combining_class == 0) starter = kept;
        last_class = c.combining_class;
        characters[kept++] = c;
    }
    characters.resize(kept);
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form) {
    if (is_ascii(text)) return std::string(text);
    const bool is_compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
    std::vector<Ordered> characters;
    characters.reserve(text.size());
    each_character(text, [&](char32_t c) { take_apart(c, is_compatible, characters); });
    put_in_order(characters);
    if (form == NormalForm::nfc || form == NormalForm::nfkc) compose(characters);
    std::string out;
    out.reserve(text.size());
    for (const Ordered c : characters) append_character(out, c.character);
    return out;
}

}  // namespace fovea::runtime::tokens
