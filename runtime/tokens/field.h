// Values of a tokenizer.json that know their place in it, for sentences about what is wrong there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../files/json.h"
#include "../format.h"

namespace fovea::runtime::tokens {

/// A value of a file. What it lasts as long as is the file's Json. Its accessors throw UserError
/// `'tokenizer.json': model.unk_id is a string, and a whole number is expected`.
class Field {
  public:
    Field(const Json& json, std::string origin) : json_(&json), origin_(std::move(origin)) {}

    /// The member of that name, which has to be there.
    Field operator[](std::string_view name) const;
    /// The same, or nullopt where it is missing or null.
    std::optional<Field> find(std::string_view name) const;
    /// The items of an array.
    std::vector<Field> items() const;
    /// The member of that name as such a list; none where it is missing or null.
    std::vector<Field> items(std::string_view name) const;

    const std::string& text() const;
    char32_t character() const;  // of a text that is one
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;

    std::string text_or(std::string_view name, const std::string& otherwise) const;
    bool boolean_or(std::string_view name, bool otherwise) const;
    /// A whole number from 0 to the largest id, or what is given where it is missing.
    std::uint32_t count_or(std::string_view name, std::uint32_t otherwise) const;
    std::uint32_t count() const;

    const Json& json() const { return *json_; }
    /// UserError: the file, this place, and what is said of it.
    [[noreturn]] void refuse(std::string_view form, std::initializer_list<Piece> pieces = {}) const;

  private:
    Field at(const Json& json, const std::string& place) const;
    [[noreturn]] void refuse_kind(std::string_view expected) const;

    const Json* json_;
    std::string origin_;  // the file's name
    std::string place_;   // model.vocab
};

}  // namespace fovea::runtime::tokens
