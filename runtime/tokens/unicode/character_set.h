// Sets of Unicode characters: their algebra, and a table that answers fast.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::runtime::tokens {

inline constexpr char32_t kEndOfUnicode = 0x110000;

/// The characters from `first` to the one before `end`.
struct Characters {
    char32_t first, end;
    friend bool operator==(const Characters&, const Characters&) = default;
};

/// A set, as ranges in order that do not touch.
class CharacterSet {
  public:
    CharacterSet() = default;
    CharacterSet(char32_t first, char32_t last) { add(first, last); }
    /// Of a generated table: characters outside and inside by turns.
    static CharacterSet unpacked(std::string_view packed);

    /// Adds the characters from `first` to `last`.
    void add(char32_t first, char32_t last);
    void add(const CharacterSet& other);

    CharacterSet complement() const;
    CharacterSet without(const CharacterSet& other) const;
    CharacterSet intersection(const CharacterSet& other) const;

    bool contains(char32_t c) const;
    const std::vector<Characters>& ranges() const { return ranges_; }

  private:
    std::vector<Characters> ranges_;
};

/// The same set as a table of bits, in blocks of 64 characters of which equal ones are kept once.
class CharacterTable {
  public:
    CharacterTable() = default;
    explicit CharacterTable(const CharacterSet& set);

    bool contains(char32_t c) const { return words_[blocks_[c >> 6]] >> (c & 63) & 1; }
    bool contains_ascii(unsigned char c) const { return ascii_[c >> 6] >> (c & 63) & 1; }

  private:
    std::array<std::uint64_t, 2> ascii_ = {};
    std::vector<std::uint16_t> blocks_;
    std::vector<std::uint64_t> words_;
};

}  // namespace fovea::runtime::tokens
