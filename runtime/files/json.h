// A small JSON value with a strict parser and a writer (RFC 8259).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fovea::runtime {

/// A JSON value. Whole numbers that fit into 64 bits stay exact; objects keep the order of their
/// members. The accessors throw UserError when the value is of another kind.
class Json {
  public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    Json() = default;  // null
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    Json(int value) : value_(static_cast<std::int64_t>(value)) {}
    Json(std::int64_t value) : value_(value) {}
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(Array value) : value_(std::move(value)) {}
    Json(Object value) : value_(std::move(value)) {}

    bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
    bool is_boolean() const { return std::holds_alternative<bool>(value_); }
    bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
    bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
    bool is_string() const { return std::holds_alternative<std::string>(value_); }
    bool is_array() const { return std::holds_alternative<Array>(value_); }
    bool is_object() const { return std::holds_alternative<Object>(value_); }
    /// null, boolean, integer, number, string, array or object.
    std::string_view kind() const;

    bool boolean() const;
    std::int64_t integer() const;  // whole numbers written without fraction and exponent
    double number() const;         // any number
    const std::string& string() const;
    const Array& array() const;
    const Object& object() const;

    /// The member with this key of an object, or null (the pointer).
    const Json* find(std::string_view key) const;
    /// Sets a member of an object (null becomes an object); an existing key keeps its place.
    Json& set(std::string_view key, Json value);

    /// On one line, without spaces. Numbers are as short as they can be and read back the same;
    /// infinite and undefined ones, which JSON has not, become null.
    std::string text() const;
    /// The same over several lines, indented by two spaces.
    std::string pretty_text() const;

    friend bool operator==(const Json&, const Json&) = default;

  private:
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
};

/// Parses one JSON text. UserError `line 2, column 7: …` (columns count bytes, from 1) for what
/// is outside RFC 8259, a key that stands twice, more than 100 levels, or text that is not UTF-8.
Json parse_json(std::string_view text);

}  // namespace fovea::runtime
