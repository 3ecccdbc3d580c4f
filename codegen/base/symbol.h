// Names of dims in one machine word, so that comparing them while compiling costs nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "codegen/base/text.h"

namespace fovea {

/// A name of 1 to 12 characters from a-z, 0-9 and '_' (any longer one is an error); empty is falsy.
class Symbol {
  public:
    constexpr Symbol() = default;
    constexpr Symbol(std::string_view name) {
        if (name.size() > 12) throw std::length_error("a dim's name has at most 12 characters");
        for (char c : name) code_ = code_ * kBase + digit(c);
    }
    constexpr explicit operator bool() const { return code_ != 0; }
    constexpr auto operator<=>(const Symbol&) const = default;

    friend constexpr Text& operator<<(Text& text, Symbol symbol) {
        constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789_";
        char name[12]{};
        std::size_t at = 12;
        for (std::uint64_t rest = symbol.code_; rest; rest /= kBase)
            name[--at] = alphabet[std::size_t(rest % kBase - 1)];
        return text << std::string_view(name + at, 12 - at);
    }

  private:
    static constexpr std::uint64_t kBase = 38;
    static constexpr std::uint64_t digit(char c) {
        if (c >= 'a' && c <= 'z') return std::uint64_t(c - 'a') + 1;
        if (c >= '0' && c <= '9') return std::uint64_t(c - '0') + 27;
        if (c == '_') return 37;
        throw std::invalid_argument("a dim's name holds a-z, 0-9 and '_' only");
    }
    std::uint64_t code_ = 0;
};

}  // namespace fovea
