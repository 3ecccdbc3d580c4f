// Sets from the generated tables, each unpacked when it is first asked for.
#include "unicode.h"

#include <array>
#include <map>
#include <string>

#include "../../text/lower_case.h"
#include "category_table.h"
#include "character_sets.h"
#include "packed_numbers.h"

namespace fovea::runtime::tokens {

namespace {

constexpr std::array<std::string_view, 30> kCategoryNames = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs", "Cn"};

constexpr std::pair<std::string_view, std::string_view> kLongNames[] = {
    {"Letter", "L"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"Dash_Punctuation", "Pd"},
    {"Connector_Punctuation", "Pc"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"Format", "Cf"}};

constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
    {"Arabic", kArabic}, {"Cyrillic", kCyrillic}, {"Greek", kGreek},       {"Han", kHan},
    {"Hangul", kHangul}, {"Hiragana", kHiragana}, {"Katakana", kKatakana}, {"Latin", kLatin}};

std::array<CharacterSet, 30> unpack_categories() {
    std::array<CharacterSet, 30> sets;
    char32_t at = 0;
    CharacterSet assigned;
    for (PackedNumbers numbers(kCategories); !numbers.at_end();) {
        const char32_t first = at + numbers.next();
        at = first + numbers.next();
        sets[numbers.next()].add(first, at - 1);
        assigned.add(first, at - 1);
    }
    sets[28] = CharacterSet(0xD800, 0xDFFF);
    sets[29] = assigned.complement().without(sets[28]);
    return sets;
}

const CharacterSet& category(std::size_t index) {
    static const std::array<CharacterSet, 30> sets = unpack_categories();
    return sets[index];
}

/// The categories whose names start with `name`.
std::optional<CharacterSet> categories(std::string_view name) {
    std::optional<CharacterSet> set;
    for (std::size_t i = 0; i < kCategoryNames.size() && !name.empty(); ++i)
        if (kCategoryNames[i].starts_with(name)) {
            if (!set) set.emplace();
            set->add(category(i));
        }
    return set;
}

std::map<char32_t, char32_t> unpack_lower_case() {
    std::map<char32_t, char32_t> later;
    char32_t at = 0;
    for (PackedNumbers numbers(kLaterLowerCase); !numbers.at_end();) {
        at += numbers.next();
        const std::uint32_t count = numbers.next(), change = numbers.next();
        for (std::uint32_t i = 0; i < count; ++i, ++at)
            later[at] = change % 2 == 0 ? at + change / 2 : at - change / 2;
    }
    return later;
}

CharacterSet numeric_characters() {
    CharacterSet set = *categories("N");
    set.add(CharacterSet::unpacked(kLaterNumbers));
    return set;
}

}  // namespace

std::optional<CharacterSet> property(std::string_view name) {
    for (const auto& [long_name, short_name] : kLongNames)
        if (name == long_name) return categories(short_name);
    for (const auto& [script, packed] : kScripts)
        if (name == script) return CharacterSet::unpacked(packed);
    return categories(name);
}

CharacterSet white_space() { return CharacterSet::unpacked(kWhiteSpace); }
CharacterSet pattern_word() { return CharacterSet::unpacked(kPatternWord); }
CharacterSet class_word() {
    CharacterSet numbers(0xB2, 0xB3);
    numbers.add(0xB9, 0xB9);
    numbers.add(0xBC, 0xBE);
    return pattern_word().without(numbers);
}
CharacterSet decimal_digits() { return *categories("Nd"); }

bool is_white_space(char32_t c) {
    static const CharacterTable table(white_space());
    return table.contains(c);
}

bool is_word(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kWord));
    return table.contains(c);
}

bool is_numeric(char32_t c) {
    static const CharacterTable table(numeric_characters());
    return table.contains(c);
}

bool is_punctuation(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kPunctuation));
    return table.contains(c);
}

bool is_control(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kControls));
    return table.contains(c);
}

bool is_accent(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kNonspacingMarks));
    return table.contains(c);
}

bool is_mark(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kMarks));
    return table.contains(c);
}

bool is_ideograph(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
           (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
           (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x2F800 && c <= 0x2FA1F);
}

char32_t lower_case_of(char32_t c) {
    static const std::map<char32_t, char32_t> later = unpack_lower_case();
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    const auto found = later.find(c);
    return found != later.end() ? found->second : simple_lower_case(c);
}

}  // namespace fovea::runtime::tokens
