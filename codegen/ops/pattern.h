// einops patterns ("b t (h d) -> b h t d", "b q d, b k d -> b q k"), checked while compiling. Where
// that gives the tensors' ranks, names are single letters without blanks, as in PyTorch's einsum:
// "bqd,bkd->bqk".
#pragma once

#include <string_view>

#include "codegen/graph/node.h"

namespace fovea {

enum class PatternMistake { none, parentheses, arrow, character, unknown_axis, too_long };

/// What is wrong with a pattern, as a sentence ends; empty for none.
constexpr std::string_view text_of(PatternMistake mistake) {
    switch (mistake) {
        case PatternMistake::none: return "";
        case PatternMistake::parentheses: return "unbalanced or nested parentheses";
        case PatternMistake::arrow: return "exactly one '->' is required";
        case PatternMistake::character: return "unexpected character (axes are letters, digits, _)";
        case PatternMistake::unknown_axis: return "an axis on the right of '->' is not on the left";
        case PatternMistake::too_long: return "too long";
    }
    return "";
}

struct PatternToken {
    enum class Kind : char { axis, open, close, comma, arrow } kind = Kind::axis;
    Symbol name;  // axes; empty for the axis of size 1, written `1`
};

/// A pattern of one tensor as a rearrangement: all but the sizes.
struct PatternAxes {
    RearrangeAxes axes{};
    Symbol names[RearrangeAxes::kMax]{};  // of the elementary axes
    bool is_group[Shape::kMaxRank + 1]{};  // by axis of the tensor: whether it is in parentheses
    int rank = 0;  // of the tensor
    const char* mistake = nullptr;  // why it is no rearrangement,
    Symbol mistaken{};  // and the axis that this is said of

    constexpr int number_of(Symbol name) const {
        for (int i = 0; i < axes.count; ++i)
            if (names[i] == name) return i;
        return -1;
    }
};

/// A pattern cut into tokens.
struct ParsedPattern {
    static constexpr int kMax = 40;
    PatternToken tokens[kMax]{};
    int count = 0, middle = 0;  // of the tokens; the arrow's number
    int ranks[2]{};  // of the first two operands
    PatternMistake mistake = PatternMistake::none;
    PatternAxes rearrangement{};

    /// `letters`: each letter is an axis.
    constexpr explicit ParsedPattern(const char* text, bool letters = false) {
        read(text, letters);
        // An axis on the right that is not on the left, as names: a pattern of letters.
        if (mistake == PatternMistake::unknown_axis && !letters) {
            ParsedPattern of_letters(text, true);
            if (of_letters.mistake != PatternMistake::none) return;
            *this = of_letters;
            return;
        }
        for (int i = 0; i < 2; ++i) ranks[i] = rank(i);
        if (mistake == PatternMistake::none) read_left_axes();
        if (mistake == PatternMistake::none && !rearrangement.mistake) read_right_axes();
    }

    constexpr int arrow() const { return middle; }
    /// How many axes operand `number` has on the left, from 0.
    constexpr int rank(int number) const {
        int axes = 0, depth = 0;
        for (int i = 0; i < middle; ++i) {
            const PatternToken::Kind kind = tokens[i].kind;
            if (kind == PatternToken::Kind::comma) --number;
            if (kind == PatternToken::Kind::close) --depth;
            if (number == 0 && !depth && kind != PatternToken::Kind::comma &&
                kind != PatternToken::Kind::close)
                ++axes;
            if (kind == PatternToken::Kind::open) ++depth;
        }
        return axes;
    }

  private:
    constexpr void read(const char* text, bool letters) {
        int depth = 0, arrows = 0;
        for (const char* at = text; *at && mistake == PatternMistake::none;) {
            char c = *at;
            if (c == ' ') {
                ++at;
            } else if (c == '(' || c == ')') {
                depth += c == '(' ? 1 : -1;
                if (depth < 0 || depth > 1) mistake = PatternMistake::parentheses;
                put({c == '(' ? PatternToken::Kind::open : PatternToken::Kind::close, {}});
                ++at;
            } else if (c == ',') {
                put({PatternToken::Kind::comma, {}});
                ++at;
            } else if (c == '-' && at[1] == '>') {
                if (depth) mistake = PatternMistake::parentheses;
                middle = count;
                put({PatternToken::Kind::arrow, {}});
                ++arrows;
                at += 2;
            } else {
                at = put_axis(at, letters);
            }
        }
        if (mistake != PatternMistake::none) return;
        if (depth) mistake = PatternMistake::parentheses;
        else if (arrows != 1) mistake = PatternMistake::arrow;
        else if (!right_axes_are_on_the_left()) mistake = PatternMistake::unknown_axis;
    }
    constexpr void put(PatternToken token) {
        if (count == kMax) mistake = PatternMistake::too_long;
        else tokens[count++] = token;
    }
    constexpr const char* put_axis(const char* at, bool letters) {
        const char* end = at;
        while (is_name_character(*end) && !(letters && end > at)) ++end;
        std::string_view name(at, std::size_t(end - at));
        const bool is_digit = !name.empty() && name[0] >= '0' && name[0] <= '9';
        const bool after_axis = count > 0 && tokens[count - 1].kind == PatternToken::Kind::axis;
        const bool after_blank = after_axis && at[-1] == ' ';
        if (name.empty() || (letters && (after_blank || (is_digit && name != "1"))))
            mistake = PatternMistake::character;
        else put({PatternToken::Kind::axis, name == "1" ? Symbol() : Symbol(name)});
        return end;
    }
    constexpr void refuse_axes(const char* why, Symbol axis = {}) {
        if (rearrangement.mistake) return;
        rearrangement.mistake = why;
        rearrangement.mistaken = axis;
    }
    constexpr void read_left_axes() {
        PatternAxes& r = rearrangement;
        bool inside = false;
        for (int i = 0; i < middle; ++i) {
            const PatternToken& token = tokens[i];
            if (token.kind == PatternToken::Kind::comma) refuse_axes("one tensor has no comma");
            if (token.kind == PatternToken::Kind::close) {
                inside = false;
                continue;
            }
            if (!inside && r.rank == Shape::kMaxRank) r.rank = Shape::kMaxRank + 1;
            if (r.mistake || r.rank > Shape::kMaxRank) return;
            if (!inside) r.is_group[r.rank++] = token.kind == PatternToken::Kind::open;
            if (token.kind == PatternToken::Kind::open) inside = true;
            if (token.kind != PatternToken::Kind::axis || !token.name) continue;
            if (r.axes.count == RearrangeAxes::kMax)
                return refuse_axes("the pattern has more than 10 axes");
            if (r.number_of(token.name) >= 0)
                return refuse_axes("stands twice on the left", token.name);
            r.names[r.axes.count++] = token.name;
            ++r.axes.input_group[std::size_t(r.rank - 1)];
        }
        for (int i = r.rank; i < Shape::kMaxRank; ++i) r.axes.input_group[std::size_t(i)] = -1;
    }
    constexpr void read_right_axes() {
        constexpr const char* kNotOnce = "every axis on the left must be on the right, once";
        PatternAxes& r = rearrangement;
        int used = 0, group = -1, seen = 0;
        bool inside = false;
        r.axes.output_group.fill(-1);
        for (int i = middle + 1; i < count; ++i) {
            const PatternToken& token = tokens[i];
            if (token.kind == PatternToken::Kind::close) {
                inside = false;
                continue;
            }
            if (token.kind == PatternToken::Kind::comma) refuse_axes("one tensor has no comma");
            if (!inside && group + 1 == Shape::kMaxRank) refuse_axes("a tensor has at most 6 axes");
            if (r.mistake) return;
            if (!inside) r.axes.output_group[std::size_t(++group)] = 0;
            if (token.kind == PatternToken::Kind::open) inside = true;
            if (token.kind != PatternToken::Kind::axis || !token.name) continue;
            const int number = r.number_of(token.name);
            if (number < 0 || used == r.axes.count || (seen >> number & 1))
                return refuse_axes(kNotOnce);
            seen |= 1 << number;
            r.axes.order[std::size_t(used++)] = (signed char)number;
            ++r.axes.output_group[std::size_t(group)];
        }
        if (used != r.axes.count) refuse_axes(kNotOnce);
    }
    constexpr bool right_axes_are_on_the_left() const {
        for (int i = middle; i < count; ++i) {
            const PatternToken& right = tokens[i];
            bool found = right.kind != PatternToken::Kind::axis || !right.name;
            for (int k = 0; k < middle && !found; ++k)
                found = tokens[k].kind == PatternToken::Kind::axis && tokens[k].name == right.name;
            if (!found) return false;
        }
        return true;
    }
};

/// Never called: their names are what g++ prints.
inline void pattern_has_unbalanced_or_nested_parentheses() {}
inline void pattern_needs_exactly_one_arrow() {}
inline void pattern_has_an_unexpected_character() {}
inline void pattern_has_an_axis_on_the_right_that_is_not_on_the_left() {}
inline void pattern_is_too_long() {}

// A failing consteval call inside a lambda makes clang 17 and later take the lambda for an
// immediate function and hide the cause: there the pattern is rejected by diagnose_if instead.
#if defined(__clang__)
#define FOVEA_REJECT(text, what, message) \
    __attribute__((                       \
        diagnose_if(ParsedPattern(text).mistake == PatternMistake::what, message, "error")))
#else
#define FOVEA_REJECT(text, what, message)
#endif

/// A checked pattern; a wrong one does not compile.
struct Pattern {
    std::string_view text;
    ParsedPattern parsed, letters;

    consteval Pattern(const char* pattern)
        FOVEA_REJECT(pattern, parentheses, "pattern: unbalanced or nested parentheses")
            FOVEA_REJECT(pattern, arrow, "pattern: exactly one '->' is required")
                FOVEA_REJECT(pattern, character,
                             "pattern: unexpected character (axes are letters, digits, _)")
                    FOVEA_REJECT(pattern, unknown_axis,
                                 "pattern: an axis on the right of '->' is not on the left")
                        FOVEA_REJECT(pattern, too_long, "pattern: too long")
        : text(pattern), parsed(pattern), letters(pattern, true) {
        switch (parsed.mistake) {
            case PatternMistake::none: break;
            case PatternMistake::parentheses: pattern_has_unbalanced_or_nested_parentheses(); break;
            case PatternMistake::arrow: pattern_needs_exactly_one_arrow(); break;
            case PatternMistake::character: pattern_has_an_unexpected_character(); break;
            case PatternMistake::unknown_axis:
                pattern_has_an_axis_on_the_right_that_is_not_on_the_left();
                break;
            case PatternMistake::too_long: pattern_is_too_long(); break;
        }
    }

    /// A text that is not known before the program runs. What is wrong with it is `parsed.mistake`;
    /// the op that takes it says so.
    static Pattern at_run_time(const char* pattern) { return {pattern, AtRunTime{}}; }

  private:
    struct AtRunTime {};
    Pattern(const char* pattern, AtRunTime)
        : text(pattern), parsed(pattern), letters(pattern, true) {}
};

#undef FOVEA_REJECT

/// The pattern for one operand of this rank, or for two: of names, or of letters where only these
/// fit.
constexpr const ParsedPattern& read_pattern(const Pattern& pattern, int first, int second = 0) {
    const bool fits = pattern.parsed.ranks[0] == first && pattern.parsed.ranks[1] == second;
    if (fits || pattern.letters.mistake != PatternMistake::none) return pattern.parsed;
    const bool letters_fit =
        pattern.letters.ranks[0] == first && pattern.letters.ranks[1] == second;
    return letters_fit ? pattern.letters : pattern.parsed;
}

}  // namespace fovea
