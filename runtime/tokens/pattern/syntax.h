// Regular expressions as a tree, in the syntax that Split and Replace of tokenizer.json files have:
// that of Oniguruma for Ruby, as far as tokenizers use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../unicode/character_set.h"

namespace fovea::runtime::tokens {

struct Syntax;
using Syntaxes = std::vector<Syntax>;

/// One character of a set.
struct OneOf {
    CharacterSet set;
};

/// All parts, one behind another.
struct InOrder {
    Syntaxes parts;
};

/// The first of the branches that leads to a match.
struct Alternatives {
    Syntaxes branches;
};

enum class Greed { greedy, lazy, possessive };
inline constexpr std::uint32_t kNoLimit = 0xFFFFFFFF;

struct Repeat {
    Syntaxes body;  // one
    std::uint32_t least = 0, most = kNoLimit;
    Greed greed = Greed::greedy;
};

/// Whether the body matches here, taking nothing.
struct LookAhead {
    Syntaxes body;  // one
    bool is_negated = false;
};

/// Whether the character before is of a set.
struct LookBehind {
    CharacterSet set;
    bool is_negated = false;
};

/// The first way in which the body matches, and no other.
struct Atomic {
    Syntaxes body;  // one
};

enum class Place { text_start, text_end, line_start, line_end };

struct Syntax {
    std::variant<OneOf, InOrder, Alternatives, Repeat, LookAhead, LookBehind, Atomic, Place> form;
};

/// The tree of a pattern. UserError for what is wrong in it or not taken.
Syntax parse_pattern(std::string_view pattern);

/// Whether it may match without taking a character.
bool may_be_empty(const Syntax& syntax);
/// The characters that a match which takes some may start with.
CharacterSet first_characters(const Syntax& syntax);

}  // namespace fovea::runtime::tokens
