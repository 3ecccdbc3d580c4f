// [a-z&&[^x]], \p{Lu}, [:alpha:] and escapes.
#include "class_parser.h"

#include <algorithm>
#include <optional>
#include <string>

#include "../../error.h"
#include "../../text/utf8.h"
#include "../unicode/unicode.h"

namespace fovea::runtime::tokens {

namespace {

constexpr int kDeepestClass = 50;
constexpr char32_t kLongS = 0x17F, kKelvin = 0x212A;

/// The character of a set of one.
std::optional<char32_t> single(const CharacterSet& set) {
    if (set.ranges().size() != 1) return std::nullopt;
    const Characters range = set.ranges().front();
    if (range.end != range.first + 1) return std::nullopt;
    return range.first;
}

CharacterSet negated_if(bool is_negated, const CharacterSet& set) {
    return is_negated ? set.complement() : set;
}

}  // namespace

void ClassParser::refuse(std::string_view what) const {
    throw UserError("the pattern '{}' has at byte {} {}, which is not taken", {text_, at_, what});
}

bool ClassParser::take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
}

char32_t ClassParser::next_character() {
    const char32_t c = decode_character(text_, at_);
    if (c == kNotACharacter) refuse(at_end() ? "its end too soon" : "no UTF-8");
    return c;
}

CharacterSet ClassParser::with_case(CharacterSet set) const {
    if (!ignores_case_) return set;
    CharacterSet cased = *property("Lu");
    cased.add(*property("Ll"));
    cased.add(*property("Lt"));
    cased = cased.without(CharacterSet(0, 0x7F)).without(CharacterSet(kLongS, kLongS));
    const CharacterSet some = set.intersection(cased);
    if (!some.ranges().empty() && some.ranges() != cased.ranges())
        refuse("some letters outside of ASCII after (?i)");
    for (char32_t lower = 'a'; lower <= 'z'; ++lower) {
        const bool has_more =
            (lower == 's' && set.contains(kLongS)) || (lower == 'k' && set.contains(kKelvin));
        if (!set.contains(lower) && !set.contains(lower - 32) && !has_more) continue;
        set.add(lower, lower);
        set.add(lower - 32, lower - 32);
        if (lower == 's') set.add(kLongS, kLongS);
        if (lower == 'k') set.add(kKelvin, kKelvin);
    }
    return set;
}

char32_t ClassParser::hexadecimal(std::size_t most) {
    char32_t value = 0;
    std::size_t digits = 0;
    for (; digits < most && !at_end(); ++digits, ++at_) {
        constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
        const std::size_t digit = kDigits.find(peek());
        if (digit == kDigits.npos) break;
        value = value * 16 + char32_t(digit < 16 ? digit : digit - 6);
    }
    if (digits == 0 || value >= kEndOfUnicode) refuse("no number of a character");
    return value;
}

CharacterSet ClassParser::property_set(bool is_negated) {
    if (!take("{")) refuse("\\p without {");
    if (take("^")) is_negated = !is_negated;
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos) refuse("a { that nothing closes");
    const std::string_view name = text_.substr(at_, end - at_);
    const std::optional<CharacterSet> set = property(name);
    if (!set) refuse("a property without data here");
    at_ = end + 1;
    return negated_if(is_negated, *set);
}

CharacterSet ClassParser::escaped(bool is_in_class) {
    const char32_t c = next_character();
    const auto single = [](char32_t one) { return CharacterSet(one, one); };
    switch (c) {
        case 's': return white_space();
        case 'S': return white_space().complement();
        case 'w': return is_in_class ? class_word() : pattern_word();
        case 'W': return (is_in_class ? class_word() : pattern_word()).complement();
        case 'd': return decimal_digits();
        case 'D': return decimal_digits().complement();
        case 'p': return property_set(false);
        case 'P': return property_set(true);
        case 'n': return single('\n');
        case 'r': return single('\r');
        case 't': return single('\t');
        case 'f': return single('\f');
        case 'v': return single('\v');
        case 'a': return single('\a');
        case 'e': return single(0x1B);
        case 'u': return single(hexadecimal(4));
        case 'x': {
            if (!take("{")) return single(hexadecimal(2));
            const char32_t number = hexadecimal(8);
            if (!take("}")) refuse("a { that nothing closes");
            return single(number);
        }
        default: break;
    }
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9')) refuse("an escape that has no meaning here");
    return single(c);
}

CharacterSet ClassParser::posix_set() {
    const bool is_negated = take("^");
    CharacterSet set;
    if (take("digit:]")) {
        set = decimal_digits();
    } else if (take("space:]")) {
        set = white_space();
    } else if (take("word:]")) {
        set = class_word();
    } else {
        refuse("a class of POSIX without data here");
    }
    return negated_if(is_negated, set);
}

CharacterSet ClassParser::class_item(int depth) {
    if (take("[:")) return posix_set();
    if (take("[")) return inner_class(depth + 1);
    if (take("\\")) return escaped(true);
    const char32_t c = next_character();
    return {c, c};
}

/// Behind the first character of a class, or of a range where a - follows that does not end the
/// class.
CharacterSet ClassParser::class_range(CharacterSet first) {
    const std::optional<char32_t> begin = single(first);
    if (!begin || peek() != '-' || text_.substr(at_, 2) == "-]") return first;
    take("-");
    const std::optional<char32_t> last = peek() == '[' ? std::nullopt : single(class_item(0));
    if (!last || *begin > *last) refuse("a range that is none");
    return {*begin, *last};
}

CharacterSet ClassParser::class_items(int depth) {
    CharacterSet set;
    std::optional<CharacterSet> all;  // of the parts before &&
    bool is_first = true;
    while (is_first || !take("]")) {
        if (at_end()) refuse("a [ that nothing closes");
        is_first = false;
        if (take("&&")) {
            // Oniguruma takes ß for ss there, on either side.
            if (ignores_case_) refuse("an intersection behind (?i)");
            all = all ? all->intersection(set) : set;
            set = {};
            continue;
        }
        const bool is_plain = peek() != '[';
        const CharacterSet item = class_item(depth);
        set.add(is_plain ? class_range(item) : item);
    }
    return all ? all->intersection(set) : set;
}

CharacterSet ClassParser::inner_class(int depth) {
    if (depth > kDeepestClass) refuse("groups nested deeper than 50 levels");
    const bool is_negated = take("^");
    return negated_if(is_negated, class_items(depth));
}

CharacterSet ClassParser::character_class() {
    const bool is_negated = take("^");
    return negated_if(is_negated, with_case(class_items(0)));
}

}  // namespace fovea::runtime::tokens
