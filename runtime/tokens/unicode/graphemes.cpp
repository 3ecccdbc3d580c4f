// The rules GB3 to GB13, over the class of each character.
#include "graphemes.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "../character.h"
#include "character_set.h"
#include "grapheme_table.h"
#include "packed_numbers.h"

namespace fovea::runtime::tokens {

namespace {

enum class Break : std::uint8_t {
    control,
    extend,
    prepend,
    spacing_mark,
    lead,
    vowel,
    tail,  // as the table numbers them
    other,
    cr,
    lf,
    joiner,
    flag,
    lead_vowel,
    lead_vowel_tail,
};

constexpr char32_t kJoiner = 0x200D, kFirstFlag = 0x1F1E6, kLastFlag = 0x1F1FF;
constexpr char32_t kFirstSyllable = 0xAC00, kLastSyllable = 0xD7A3;

struct BreakRange {
    char32_t first, end;
    Break kind;
};

std::vector<BreakRange> read_breaks() {
    std::vector<BreakRange> ranges;
    char32_t at = 0;
    for (PackedNumbers numbers(kGraphemeBreaks); !numbers.at_end();) {
        const char32_t first = at + numbers.next();
        at = first + numbers.next();
        ranges.push_back({first, at, Break(numbers.next())});
    }
    return ranges;
}

Break break_of(char32_t c) {
    static const std::vector<BreakRange> ranges = read_breaks();
    if (c >= ' ' && c < 0x7F) return Break::other;
    if (c == '\r') return Break::cr;
    if (c == '\n') return Break::lf;
    if (c == kJoiner) return Break::joiner;
    if (c >= kFirstFlag && c <= kLastFlag) return Break::flag;
    if (c >= kFirstSyllable && c <= kLastSyllable)
        return (c - kFirstSyllable) % 28 == 0 ? Break::lead_vowel : Break::lead_vowel_tail;
    std::size_t low = 0, high = ranges.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (ranges[middle].end <= c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ranges.size() && ranges[low].first <= c ? ranges[low].kind : Break::other;
}

bool is_picture(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kPictures));
    return table.contains(c);
}
bool is_consonant(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kConjunctConsonants));
    return table.contains(c);
}
bool is_linker(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kConjunctLinkers));
    return table.contains(c);
}
bool is_conjunct_extender(char32_t c) {
    static const CharacterTable table(CharacterSet::unpacked(kConjunctExtenders));
    return table.contains(c);
}

bool is_hangul_pair(Break left, Break right) {
    switch (left) {
        case Break::lead:
            return right == Break::lead || right == Break::vowel || right == Break::lead_vowel ||
                   right == Break::lead_vowel_tail;
        case Break::lead_vowel:
        case Break::vowel: return right == Break::vowel || right == Break::tail;
        case Break::lead_vowel_tail:
        case Break::tail: return right == Break::tail;
        default: return false;
    }
}

bool is_breaking(Break kind) {
    return kind == Break::control || kind == Break::cr || kind == Break::lf;
}

/// What has been seen of a cluster, as the rules that look back further than a character need it.
struct Cluster {
    Break last;
    bool joins_picture = false;  // a picture, extenders, a joiner
    bool has_picture = false;    // a picture and extenders
    bool is_conjunct = false;    // a consonant, extenders, linkers
    bool is_linked = false;      // with a linker among them
    std::size_t flags = 0;

    explicit Cluster(char32_t c) : last(break_of(c)) { see(c); }

    void see(char32_t c) {
        last = break_of(c);
        joins_picture = has_picture && last == Break::joiner;
        has_picture = is_picture(c) || (has_picture && last == Break::extend);
        if (is_consonant(c)) {
            is_conjunct = true;
            is_linked = false;
        } else if (is_conjunct && is_linker(c)) {
            is_linked = true;
        } else if (!is_conjunct_extender(c)) {
            is_conjunct = is_linked = false;
        }
        flags = last == Break::flag ? flags + 1 : 0;
    }

    bool goes_on_with(char32_t c) const {
        const Break next = break_of(c);
        if (last == Break::cr && next == Break::lf) return true;
        if (is_breaking(last) || is_breaking(next)) return false;
        if (is_hangul_pair(last, next)) return true;
        if (next == Break::extend || next == Break::joiner || next == Break::spacing_mark)
            return true;
        if (last == Break::prepend) return true;
        if (is_conjunct && is_linked && is_consonant(c)) return true;
        if (joins_picture && is_picture(c)) return true;
        return flags % 2 == 1 && next == Break::flag;
    }
};

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t at) {
    Cluster cluster(character_at(text, at));
    for (at += width_at(text, at); at < text.size(); at += width_at(text, at)) {
        const char32_t next = character_at(text, at);
        if (!cluster.goes_on_with(next)) break;
        cluster.see(next);
    }
    return at;
}

}  // namespace fovea::runtime::tokens
