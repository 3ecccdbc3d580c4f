// Text that can be built while compiling: std::string of libstdc++ 12 cannot (clang).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fovea {

/// A string of at most `kCapacity` characters; what does not fit is cut.
class Text {
  public:
    static constexpr std::size_t kCapacity = 640;

    constexpr Text& operator<<(std::string_view text) {
        for (char c : text)
            if (size_ < kCapacity) characters_[size_++] = c;
        return *this;
    }
    constexpr Text& operator<<(const char* text) { return *this << std::string_view(text); }
    constexpr Text& operator<<(std::int64_t value) {
        char digits[20]{};
        int count = 0;
        std::uint64_t rest = value < 0 ? 0 - std::uint64_t(value) : std::uint64_t(value);
        do {
            digits[count++] = char('0' + rest % 10);
            rest /= 10;
        } while (rest);
        if (value < 0) *this << "-";
        while (count) *this << std::string_view(&digits[--count], 1);
        return *this;
    }
    constexpr Text& operator<<(int value) { return *this << std::int64_t(value); }

    constexpr std::string_view view() const { return {characters_, size_}; }
    constexpr std::size_t size() const { return size_; }

  private:
    char characters_[kCapacity]{};
    std::size_t size_ = 0;
};

}  // namespace fovea
