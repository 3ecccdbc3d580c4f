// Numbers as the generated tables hold them: text of digits of base 40, the last one marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fovea::runtime::tokens {

/// Takes the numbers of a text one after another.
class PackedNumbers {
  public:
    explicit PackedNumbers(std::string_view text) : rest_(text) {}

    bool at_end() const { return rest_.empty(); }

    std::uint32_t next() {
        std::uint32_t number = 0;
        for (;;) {
            const auto letter = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            // The alphabet starts at '#' and leaves out '?' and '\'.
            const unsigned digit = letter - 35u - (letter > '?') - (letter > '\\');
            if (digit < 40) return number * 40 + digit;
            number = number * 40 + digit - 40;
        }
    }

  private:
    std::string_view rest_;
};

}  // namespace fovea::runtime::tokens
