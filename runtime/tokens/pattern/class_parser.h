// The part of the parser of patterns that reads characters and sets of them.
#pragma once

#include <cstddef>
#include <string_view>

#include "../unicode/character_set.h"

namespace fovea::runtime::tokens {

class ClassParser {
  public:
    explicit ClassParser(std::string_view pattern) : text_(pattern) {}

  protected:
    [[noreturn]] void refuse(std::string_view what) const;

    std::string_view text() const { return text_; }
    std::size_t at() const { return at_; }
    void go_to(std::size_t at) { at_ = at; }
    bool at_end() const { return at_ >= text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    bool take(std::string_view word);
    char32_t next_character();

    bool ignores_case() const { return ignores_case_; }
    void set_ignores_case(bool on) { ignores_case_ = on; }
    /// Where case is ignored, the set with the letters of ASCII in either case; others have to be
    /// all in it, or none.
    CharacterSet with_case(CharacterSet set) const;

    /// Behind a backslash: \s, \p{L}, \n, \x{41}, or the character itself.
    CharacterSet escaped(bool is_in_class);
    /// Behind a [.
    CharacterSet character_class();

  private:
    CharacterSet inner_class(int depth);
    CharacterSet class_items(int depth);
    CharacterSet class_item(int depth);
    CharacterSet class_range(CharacterSet first);
    CharacterSet property_set(bool is_negated);
    CharacterSet posix_set();
    char32_t hexadecimal(std::size_t most);

    std::string_view text_;
    std::size_t at_ = 0;
    bool ignores_case_ = false;
};

}  // namespace fovea::runtime::tokens
