// Access to JSON values, and their text.
#include "json.h"

#include <array>
#include <cmath>

#include "../error.h"
#include "number_text.h"

namespace fovea::runtime {
namespace {

[[noreturn]] void refuse(const Json& value, std::string_view expected) {
    throw UserError("JSON: expected {}, found {}", {expected, value.kind()});
}

void append_string(std::string& out, std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (char c : text) {
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) >= 0x20) {
                    out += c;
                } else {
                    out += "\\u00";
                    out += kHex[static_cast<unsigned char>(c) >> 4];
                    out += kHex[static_cast<unsigned char>(c) & 15];
                }
        }
    }
    out += '"';
}

void append_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    const std::string text = number_text(value);
    out += text;
    // Keeps it a number with a fraction when it is read back.
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

/// Writes values; `indent` is the number of spaces per level, 0 for one line.
struct Writer {
    std::string out;
    std::size_t indent = 0;

    void new_line(std::size_t level) {
        if (indent == 0) return;
        out += '\n';
        out.append(level * indent, ' ');
    }

    void array(const Json::Array& items, std::size_t level) {
        out += '[';
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) out += ',';
            new_line(level + 1);
            value(items[i], level + 1);
        }
        if (!items.empty()) new_line(level);
        out += ']';
    }

    void object(const Json::Object& members, std::size_t level) {
        out += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) out += ',';
            new_line(level + 1);
            append_string(out, members[i].first);
            out += indent > 0 ? ": " : ":";
            value(members[i].second, level + 1);
        }
        if (!members.empty()) new_line(level);
        out += '}';
    }

    void value(const Json& json, std::size_t level) {
        if (json.is_null()) {
            out += "null";
        } else if (json.is_boolean()) {
            out += json.boolean() ? "true" : "false";
        } else if (json.is_integer()) {
            out += std::to_string(json.integer());
        } else if (json.is_number()) {
            append_number(out, json.number());
        } else if (json.is_string()) {
            append_string(out, json.string());
        } else if (json.is_array()) {
            array(json.array(), level);
        } else {
            object(json.object(), level);
        }
    }
};

}  // namespace

std::string_view Json::kind() const {
    constexpr std::array<std::string_view, 7> kKinds = {"null",   "boolean", "integer", "number",
                                                        "string", "array",   "object"};
    return kKinds[value_.index()];
}

bool Json::boolean() const {
    if (const bool* value = std::get_if<bool>(&value_)) return *value;
    refuse(*this, "a boolean");
}

std::int64_t Json::integer() const {
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
    refuse(*this, "an integer");
}

double Json::number() const {
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
    if (const auto* value = std::get_if<double>(&value_)) return *value;
    refuse(*this, "a number");
}

const std::string& Json::string() const {
    if (const auto* value = std::get_if<std::string>(&value_)) return *value;
    refuse(*this, "a string");
}

const Json::Array& Json::array() const {
    if (const auto* value = std::get_if<Array>(&value_)) return *value;
    refuse(*this, "an array");
}

const Json::Object& Json::object() const {
    if (const auto* value = std::get_if<Object>(&value_)) return *value;
    refuse(*this, "an object");
}

const Json* Json::find(std::string_view key) const {
    for (const Member& member : object()) {
        if (member.first == key) return &member.second;
    }
    return nullptr;
}

Json& Json::set(std::string_view key, Json value) {
    if (is_null()) value_ = Object{};
    auto* members = std::get_if<Object>(&value_);
    if (!members) refuse(*this, "an object");
    for (Member& member : *members) {
        if (member.first == key) {
            member.second = std::move(value);
            return *this;
        }
    }
    members->emplace_back(std::string(key), std::move(value));
    return *this;
}

std::string Json::text() const {
    Writer writer;
    writer.value(*this, 0);
    return std::move(writer.out);
}

std::string Json::pretty_text() const {
    Writer writer;
    writer.indent = 2;
    writer.value(*this, 0);
    writer.out += '\n';
    return std::move(writer.out);
}

}  // namespace fovea::runtime
