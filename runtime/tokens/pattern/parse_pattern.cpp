// Patterns by recursive descent: alternatives of sequences of repeated atoms.
#include <optional>

#include "../../error.h"
#include "../../text/utf8.h"
#include "../unicode/unicode.h"
#include "class_parser.h"
#include "syntax.h"

namespace fovea::runtime::tokens {

namespace {

constexpr int kDeepestPattern = 50;
constexpr std::uint32_t kLongestRepeat = 1000;

class PatternParser : ClassParser {
  public:
    explicit PatternParser(std::string_view pattern) : ClassParser(pattern) {}

    Syntax parse() {
        Syntax syntax = alternatives(0);
        if (!at_end()) refuse("a ) that closes nothing");
        return syntax;
    }

  private:
    Syntax alternatives(int depth) {
        if (depth > kDeepestPattern) refuse("groups nested deeper than 50 levels");
        const bool outside = ignores_case();
        Alternatives either;
        do {
            either.branches.push_back(in_order(depth));
        } while (take("|"));
        set_ignores_case(outside);  // (?i) holds to the end of its group
        return either.branches.size() == 1 ? std::move(either.branches.front())
                                           : Syntax{std::move(either)};
    }

    Syntax in_order(int depth) {
        InOrder order;
        char32_t letter = 0;  // the one before
        while (!at_end() && peek() != '|' && peek() != ')') {
            const std::size_t start = at();
            std::optional<Syntax> part = atom(depth);
            const char32_t now = ignores_case() && at() == start + 1 ? last_letter() : 0;
            refuse_pair(letter, now);
            letter = now;
            if (part) order.parts.push_back(repeated(std::move(*part), letter));
        }
        return {std::move(order)};
    }

    /// Without regard to case, two letters may also be one ligature.
    void refuse_pair(char32_t first, char32_t second) {
        for (const char* pair : {"ss", "ff", "fi", "fl", "st"})
            if (lower_case_of(first) == char32_t(pair[0]) &&
                lower_case_of(second) == char32_t(pair[1]))
                refuse("letters after (?i) that a ligature may stand for");
    }

    char32_t last_letter() const { return static_cast<unsigned char>(text()[at() - 1]); }

    Syntax literal(char32_t c) const { return one_of(with_case(CharacterSet(c, c))); }

    Syntax one_of(CharacterSet set) const { return {OneOf{std::move(set)}}; }

    /// nullopt: an option, which takes nothing.
    std::optional<Syntax> atom(int depth) {
        if (take("(")) return group(depth);
        if (take("[")) return one_of(character_class());
        if (take(".")) return one_of(CharacterSet('\n', '\n').complement());
        if (take("^")) return Syntax{Place::line_start};
        if (take("$")) return Syntax{Place::line_end};
        if (peek() == '*' || peek() == '+' || peek() == '?') refuse("a repeat of nothing");
        if (!take("\\")) return literal(next_character());
        if (take("A")) return Syntax{Place::text_start};
        if (take("z")) return Syntax{Place::text_end};
        if (take("b") || take("B")) refuse("\\b");
        if (peek() == 'w' || peek() == 'W') return one_of(escaped(false));
        return one_of(with_case(escaped(false)));
    }

    std::optional<Syntax> group(int depth) {
        if (!take("?")) return closed(alternatives(depth + 1));
        if (take(":")) return closed(alternatives(depth + 1));
        if (take(">")) return closed({Atomic{{alternatives(depth + 1)}}});
        if (take("=")) return closed({LookAhead{{alternatives(depth + 1)}, false}});
        if (take("!")) return closed({LookAhead{{alternatives(depth + 1)}, true}});
        if (take("<=")) return closed(look_behind(depth, false));
        if (take("<!")) return closed(look_behind(depth, true));
        const bool on = take("i");
        if (!on && !take("-i")) refuse("this kind of group");
        if (take(")")) {
            if (at() > 5) refuse("an option that is not at its start");
            set_ignores_case(on);
            return std::nullopt;
        }
        if (!take(":")) refuse("this kind of group");
        const bool outside = ignores_case();
        set_ignores_case(on);
        Syntax body = closed(alternatives(depth + 1));
        set_ignores_case(outside);
        return body;
    }

    Syntax closed(Syntax syntax) {
        if (!take(")")) refuse("a ( that nothing closes");
        return syntax;
    }

    Syntax look_behind(int depth, bool is_negated) {
        const Syntax body = alternatives(depth + 1);
        const auto* order = std::get_if<InOrder>(&body.form);
        const OneOf* one = order && order->parts.size() == 1
                               ? std::get_if<OneOf>(&order->parts.front().form)
                               : nullptr;
        if (!one) refuse("a look behind for more than one character");
        return {LookBehind{one->set, is_negated}};
    }

    Syntax repeated(Syntax body, char32_t letter) {
        for (;;) {
            Repeat repeat;
            bool has_possessive = true;
            if (take("*")) {
            } else if (take("+")) {
                repeat.least = 1;
            } else if (take("?")) {
                repeat.most = 1;
            } else if (peek() == '{' && interval(repeat)) {
                has_possessive = false;  // {2}+ is a repeat of a repeat
            } else {
                return body;
            }
            if (take("?")) {
                if (repeat.least == repeat.most) refuse("{n}?");
                repeat.greed = Greed::lazy;
            } else if (has_possessive && take("+")) {
                repeat.greed = Greed::possessive;
            }
            if (repeat.most > 1) refuse_pair(letter, letter);
            if (!std::holds_alternative<OneOf>(body.form) && may_be_empty(body) && repeat.most > 1)
                refuse("a repeat of what may be empty");
            repeat.body.push_back(std::move(body));
            body = {std::move(repeat)};
        }
    }

    /// {2}, {2,}, {2,3} or {,3}; what else starts with a brace is the brace itself.
    bool interval(Repeat& repeat) {
        const std::size_t start = at();
        take("{");
        const std::optional<std::uint32_t> least = number();
        std::optional<std::uint32_t> most = least;
        const bool has_comma = take(",");
        if (has_comma) most = number();
        if ((!least && !most) || !take("}")) {
            go_to(start);
            return false;
        }
        repeat.least = least.value_or(0);
        repeat.most = most.value_or(kNoLimit);
        if (repeat.least > repeat.most) refuse("a repeat whose least number is above its most");
        return true;
    }

    std::optional<std::uint32_t> number() {
        std::optional<std::uint32_t> value;
        for (; peek() >= '0' && peek() <= '9'; next_character()) {
            value = value.value_or(0) * 10 + std::uint32_t(peek() - '0');
            if (*value > kLongestRepeat) refuse("a repeat of more than 1000");
        }
        return value;
    }
};

}  // namespace

Syntax parse_pattern(std::string_view pattern) { return PatternParser(pattern).parse(); }

}  // namespace fovea::runtime::tokens
