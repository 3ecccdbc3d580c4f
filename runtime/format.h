// Sentences with holes: one stands whole in the code, and a call that fills it is short.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// What fills a hole: a text, or a whole number. It lasts as long as the text that it is made of.
class Piece {
  public:
    Piece(const std::string& text) : Piece(std::string_view(text)) {}
    Piece(std::string_view text) : text_(text.data()), count_(text.size()) {}
    Piece(const char* text) : text_(text), kind_(Kind::ended_by_zero) {}
    Piece(const char& letter) : text_(&letter), count_(1) {}
    template <std::signed_integral T>
    Piece(T number)
        : count_(static_cast<std::uint64_t>(std::int64_t{number})), kind_(Kind::whole) {}
    template <std::unsigned_integral T>
    Piece(T number) : count_(number), kind_(Kind::natural) {}

    void append_to(std::string& text) const;

  private:
    enum class Kind { sized, ended_by_zero, whole, natural };

    const char* text_ = nullptr;
    std::uint64_t count_ = 0;
    Kind kind_ = Kind::sized;
};

/// `form` with each {} replaced by the next piece: format("'{}' has {} rows", {name, rows}).
std::string format(std::string_view form, std::initializer_list<Piece> pieces);

}  // namespace fovea::runtime
