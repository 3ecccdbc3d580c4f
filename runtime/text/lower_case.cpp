// Lower case by binary search in the generated tables.
#include "lower_case.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "lower_case_table.h"

namespace fovea::runtime {

namespace {

constexpr char32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr char32_t kCapitalIWithDot = 0x130, kDotAbove = 0x307;

// The range that holds the character, or the table's end.
template <class Range, std::size_t Count>
const Range* find_range(const Range (&table)[Count], char32_t character) {
    const Range* found = std::partition_point(std::begin(table), std::end(table),
                                              [&](const Range& r) { return r.last < character; });
    return found != std::end(table) && found->first <= character ? found : std::end(table);
}

bool is_cased(char32_t c) { return find_range(kCased, c) != std::end(kCased); }
bool is_ignorable(char32_t c) { return find_range(kCaseIgnorable, c) != std::end(kCaseIgnorable); }

// Unicode's Final_Sigma: a cased letter before it, none after it, ignorable characters skipped.
bool ends_word(const std::u32string& text, std::size_t at) {
    std::size_t before = at;
    while (before > 0 && is_ignorable(text[before - 1])) --before;
    if (before == 0 || !is_cased(text[before - 1])) return false;
    std::size_t after = at + 1;
    while (after < text.size() && is_ignorable(text[after])) ++after;
    return after == text.size() || !is_cased(text[after]);
}

}  // namespace

char32_t simple_lower_case(char32_t c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    const LowerCaseRange* range = find_range(kLowerCase, c);
    if (range == std::end(kLowerCase)) return c;
    if ((c - range->first) % static_cast<char32_t>(range->stride) != 0) return c;
    return c + static_cast<char32_t>(range->offset);
}

std::u32string lower_case(const std::u32string& text) {
    std::u32string lower;
    lower.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == kCapitalSigma) {
            lower += ends_word(text, i) ? kFinalSigma : kSigma;
        } else {
            lower += simple_lower_case(text[i]);
            if (text[i] == kCapitalIWithDot) lower += kDotAbove;
        }
    }
    return lower;
}

}  // namespace fovea::runtime
