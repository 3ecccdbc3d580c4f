// Regular expressions over UTF-8, by backtracking: what Split and Replace of tokenizer.json need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../unicode/character_set.h"
#include "syntax.h"

namespace fovea::runtime::tokens {

/// A place in a text: from byte `begin` to the one before `end`.
struct PatternMatch {
    std::size_t begin = 0, end = 0;
    friend bool operator==(const PatternMatch&, const PatternMatch&) = default;
};

class Pattern {
  public:
    /// Of a regular expression in the syntax of parse_pattern. UserError for what it does not take.
    explicit Pattern(std::string_view source);
    /// Of a text that stands for itself; an empty one stands nowhere.
    static Pattern of_text(std::string_view text);

    /// All matches in a UTF-8 text, from left to right; an empty one does not stand right behind
    /// another. UserError where a text takes the pattern too many steps.
    std::vector<PatternMatch> matches(std::string_view text) const;

  private:
    friend class PatternCompiler;
    friend class Matcher;

    enum class Kind : std::uint8_t {
        one,  // of a set
        loop,  // of a set, as often as it can
        lazy_loop,  // as rarely as it can
        possess,  // as often as it can, and never less
        either,  // the next step, else that at `target`
        jump,  // to `target`
        look_ahead,  // the steps behind it up to a `done`, then `target`
        look_ahead_for_none,
        atomic,
        behind,
        behind_none,  // a character of a set before
        text_start,
        text_end,
        line_start,
        line_end,
        done,
    };
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    struct Step {
        Kind kind;
        std::uint32_t table = kNone;  // of sets; with `either`: what the next step may start with
        std::uint32_t target = kNone;
        std::uint32_t least = 0, most = 0;
    };

    Pattern() = default;
    std::vector<PatternMatch> literal_matches(std::string_view text) const;

    std::string source_;
    std::vector<Step> steps_;  // none: the source stands for itself
    std::vector<CharacterTable> tables_;
    std::uint32_t first_ = kNone;  // the table of what a match starts with; kNone: may be empty
};

}  // namespace fovea::runtime::tokens
