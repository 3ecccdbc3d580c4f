// Checked access to the values of a file.
#include "field.h"

#include "../error.h"
#include "../text/utf8.h"

namespace fovea::runtime::tokens {

namespace {

constexpr std::int64_t kLargestCount = 0x7FFFFFFF;

}  // namespace

void Field::refuse(std::string_view form, std::initializer_list<Piece> pieces) const {
    throw UserError("'{}': {} {}", {origin_, place_.empty() ? std::string_view("the file") : place_,
                                    format(form, pieces)});
}

void Field::refuse_kind(std::string_view expected) const {
    const std::string_view kind = json_->kind();
    const bool has_vowel = kind.starts_with("a") || kind.starts_with("i") || kind.starts_with("o");
    if (json_->is_null()) refuse("is null, and {} is expected", {expected});
    refuse("is {} {}, and {} is expected", {has_vowel ? "an" : "a", kind, expected});
}

Field Field::at(const Json& json, const std::string& place) const {
    Field field(json, origin_);
    field.place_ = place_.empty() || place.starts_with("[") ? place_ + place : place_ + "." + place;
    return field;
}

std::optional<Field> Field::find(std::string_view name) const {
    if (!json_->is_object()) refuse_kind("an object");
    const Json* member = json_->find(name);
    if (!member || member->is_null()) return std::nullopt;
    return at(*member, std::string(name));
}

Field Field::operator[](std::string_view name) const {
    if (const std::optional<Field> member = find(name)) return *member;
    refuse("has no '{}'", {name});
}

std::vector<Field> Field::items() const {
    if (!json_->is_array()) refuse_kind("an array");
    std::vector<Field> fields;
    const Json::Array& array = json_->array();
    for (std::size_t i = 0; i < array.size(); ++i)
        fields.push_back(at(array[i], "[" + std::to_string(i) + "]"));
    return fields;
}

std::vector<Field> Field::items(std::string_view name) const {
    const std::optional<Field> member = find(name);
    return member ? member->items() : std::vector<Field>();
}

const std::string& Field::text() const {
    if (!json_->is_string()) refuse_kind("a string");
    return json_->string();
}

char32_t Field::character() const {
    std::size_t at = 0;
    const char32_t c = decode_character(text(), at);
    if (text().empty() || at != text().size())
        refuse("is '{}', and one character is expected", {text()});
    return c;
}

std::int64_t Field::integer() const {
    if (!json_->is_integer()) refuse_kind("a whole number");
    return json_->integer();
}

double Field::number() const {
    if (!json_->is_number()) refuse_kind("a number");
    return json_->number();
}

bool Field::boolean() const {
    if (!json_->is_boolean()) refuse_kind("true or false");
    return json_->boolean();
}

std::string Field::text_or(std::string_view name, const std::string& otherwise) const {
    const std::optional<Field> member = find(name);
    return member ? member->text() : otherwise;
}

bool Field::boolean_or(std::string_view name, bool otherwise) const {
    const std::optional<Field> member = find(name);
    return member ? member->boolean() : otherwise;
}

std::uint32_t Field::count() const {
    const std::int64_t value = integer();
    if (value < 0 || value > kLargestCount)
        refuse("is {}, and a number from 0 to {} is expected", {value, kLargestCount});
    return static_cast<std::uint32_t>(value);
}

std::uint32_t Field::count_or(std::string_view name, std::uint32_t otherwise) const {
    const std::optional<Field> member = find(name);
    return member ? member->count() : otherwise;
}

}  // namespace fovea::runtime::tokens
