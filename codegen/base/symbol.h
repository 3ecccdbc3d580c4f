// Names of dims: a number each, so that comparing them while compiling costs little.
#pragma once

#include <compare>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

#include "codegen/base/text.h"

namespace fovea {

/// Whether a name of a dim, or of an axis of a pattern, may hold the character.
constexpr bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/// Letters, digits and '_', at least one.
constexpr bool is_dim_name(std::string_view name) {
    for (char c : name)
        if (!is_name_character(c)) return false;
    return !name.empty();
}

namespace detail {
/// A copy of a name that lives as long as the program.
inline const char* kept_name(std::string_view name) {
    static std::mutex mutex;
    static auto& names = *new std::set<std::string, std::less<>>;
    const std::lock_guard lock(mutex);
    return names.emplace(name).first->c_str();
}
}  // namespace detail

/// A name of letters, digits and '_' (`is_dim_name`); empty is falsy. Names of up to 12 characters
/// from a-z, 0-9 and '_' are their own number; others have a hash and a pointer to their text,
/// which ends at the first character that no name may hold. What is no name is kept to be quoted.
class Symbol {
  public:
    constexpr Symbol() = default;
    constexpr Symbol(std::string_view name) {
        if (is_short(name)) {
            for (char c : name) code_ = code_ * kBase + digit(c);
            return;
        }
        code_ = is_dim_name(name) ? kLong | hash_of(name) : kNoName;
        text_ = std::is_constant_evaluated() ? name.data() : detail::kept_name(name);
    }
    constexpr explicit operator bool() const { return code_ != 0; }
    constexpr bool operator==(const Symbol& other) const {
        return code_ == other.code_ && (!text_ || view() == other.view());
    }
    constexpr std::strong_ordering operator<=>(const Symbol& other) const {
        if (code_ != other.code_ || !text_) return code_ <=> other.code_;
        return view().compare(other.view()) <=> 0;
    }

    friend constexpr Text& operator<<(Text& text, const Symbol& symbol) {
        if (symbol.text_) return text << symbol.view();
        constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz0123456789_";
        char name[kShort]{};
        std::size_t at = kShort;
        for (std::uint64_t rest = symbol.code_; rest; rest /= kBase)
            name[--at] = alphabet[std::size_t(rest % kBase - 1)];
        return text << std::string_view(name + at, kShort - at);
    }

  private:
    friend class Dim;
    friend struct ShortTerm;

    static constexpr std::uint64_t kBase = 38;
    static constexpr std::size_t kShort = 12;
    static constexpr std::uint64_t kLong = std::uint64_t(1) << 63;  // above all short ones
    static constexpr std::uint64_t kNoName = ~std::uint64_t(0);

    static constexpr std::uint64_t hash_of(std::string_view name) {  // FNV-1a
        std::uint64_t hash = 14695981039346656037u;
        for (char c : name) hash = (hash ^ std::uint64_t((unsigned char)c)) * 1099511628211u;
        return hash >> 1;
    }
    static constexpr std::uint64_t digit(char c) {
        if (c >= 'a' && c <= 'z') return std::uint64_t(c - 'a') + 1;
        if (c >= '0' && c <= '9') return std::uint64_t(c - '0') + 27;
        return c == '_' ? 37 : 0;
    }
    static constexpr bool is_short(std::string_view name) {
        if (name.size() > kShort) return false;
        for (char c : name)
            if (!digit(c)) return false;
        return true;
    }
    constexpr std::string_view view() const {
        std::size_t size = 0;
        if (code_ == kNoName) return text_;
        while (is_name_character(text_[size])) ++size;
        return {text_, size};
    }

    std::uint64_t code_ = 0;
    const char* text_ = nullptr;
};

}  // namespace fovea
