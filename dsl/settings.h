// Settings of a model, listed by name and set from text.
//
// A settings struct names its fields in one function:
//
//     struct MySettings {
//         Dim hidden = {"hidden", 64};
//         NormOver norm_over = NormOver::features;
//         double dropout = 0.1;
//         template <class Visit>
//         constexpr void fields(Visit&& visit) {
//             visit("hidden", hidden);
//             visit("norm_over", norm_over, {"features", "tokens_and_features"});
//             visit("dropout", dropout, in_training);
//         }
//     };
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/base/dim.h"
#include "codegen/base/error.h"
#include "dsl/in_training.h"

namespace fovea {

/// The names of an enum's values, in their order.
using Choices = std::initializer_list<std::string_view>;

/// A setting as `fovea models` lists it.
struct SettingSpec {
    std::string name;
    std::string kind;  // size, whole number, number, true|false, the choices, or a list of such
    std::string default_text;  // empty for a size that is symbolic when unset
    bool in_training = false;  // it matters in training alone
};

/// `--set NAME=VALUE`, in the order given.
using SettingValues = std::vector<std::pair<std::string, std::string>>;

/// The largest size of an axis, and the largest whole number, that a setting takes: products of
/// two still fit where numbers have 64 bits, as bytes do.
inline constexpr std::int64_t kMostSize = 16'777'216;
inline constexpr int kMostNumber = 1'000'000'000;

namespace detail {

inline std::string joined(Choices choices) {
    std::string text;
    for (std::string_view choice : choices) (text += text.empty() ? "" : "|") += choice;
    return text;
}

[[noreturn]] inline void bad_value(std::string_view name, std::string_view expected,
                                   std::string_view text) {
    throw UserError("setting '" + std::string(name) + "' takes " + std::string(expected) +
                    ", not '" + std::string(text) + "'");
}

template <class Number>
bool parse(std::string_view text, Number& number) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

inline std::string text_of(Symbol symbol) {
    Text text;
    text << symbol;
    return std::string(text.view());
}

template <class Number>
void set_whole(std::string_view name, Number& number, std::string_view text, std::int64_t least,
               std::int64_t most) {
    Number value = 0;
    if (!parse(text, value) || value < least || value > most)
        bad_value(name,
                  "a whole number from " + std::to_string(least) + " to " + std::to_string(most),
                  text);
    number = value;
}

/// A size keeps its name; a symbolic one becomes a size of that name.
inline void set(std::string_view name, Dim& dim, std::string_view text) {
    std::int64_t value = 0;
    set_whole(name, value, text, 1, kMostSize);
    Symbol label = dim.is_static() ? dim.label() : dim.bare_symbol();
    dim = label ? Dim(text_of(label).c_str(), value) : Dim(value);
}
/// Below 0 where the default is.
inline void set(std::string_view name, int& number, std::string_view text) {
    set_whole(name, number, text, number < 0 ? -kMostNumber : 0, kMostNumber);
}
inline void set(std::string_view name, double& number, std::string_view text) {
    double value = 0;
    if (!parse(text, value) || !std::isfinite(value)) bad_value(name, "a number", text);
    number = value;
}
inline void set(std::string_view name, bool& flag, std::string_view text) {
    if (text != "true" && text != "false") bad_value(name, "true or false", text);
    flag = text == "true";
}
template <class Enum>
    requires std::is_enum_v<Enum>
void set(std::string_view name, Enum& value, std::string_view text, Choices choices) {
    int i = 0;
    for (std::string_view choice : choices) {
        if (choice == text) return void(value = Enum(i));
        ++i;
    }
    bad_value(name, joined(choices), text);
}

/// Values apart by commas; none of an empty text.
template <class T, class... More>
void set(std::string_view name, std::vector<T>& list, std::string_view text, More... choices) {
    std::vector<T> values;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        T value{};
        set(name, value, text.substr(0, comma), choices...);
        values.push_back(std::move(value));
        if (comma == text.npos) break;
        text.remove_prefix(comma + 1);
        if (text.empty()) bad_value(name, "values apart by commas", "a comma at the end");
    }
    list = std::move(values);
}

inline SettingSpec spec(std::string_view name, const Dim& dim) {
    return {std::string(name), "size", dim.is_static() ? std::to_string(dim.value()) : ""};
}
inline SettingSpec spec(std::string_view name, int number) {
    return {std::string(name), "whole number", std::to_string(number)};
}
inline SettingSpec spec(std::string_view name, double number) {
    char text[32];
    auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return {std::string(name), "number", std::string(text, end)};
}
inline SettingSpec spec(std::string_view name, bool flag) {
    return {std::string(name), "true|false", flag ? "true" : "false"};
}
template <class Enum>
    requires std::is_enum_v<Enum>
SettingSpec spec(std::string_view name, Enum value, Choices choices) {
    return {std::string(name), joined(choices), std::string(choices.begin()[int(value)])};
}

template <class T, class... More>
SettingSpec spec(std::string_view name, const std::vector<T>& list, More... choices) {
    SettingSpec all{std::string(name), "list of " + spec(name, T{}, choices...).kind, ""};
    for (const T& value : list)
        (all.default_text += all.default_text.empty() ? "" : ",") +=
            spec(name, value, choices...).default_text;
    return all;
}

struct Lister {
    std::vector<SettingSpec> list;

    template <class T>
    void operator()(std::string_view name, T& field) {
        list.push_back(spec(name, field));
    }
    template <class T>
    void operator()(std::string_view name, T& field, Choices choices) {
        list.push_back(spec(name, field, choices));
    }
    template <class T>
    void operator()(std::string_view name, T& field, InTraining) {
        (*this)(name, field);
        list.back().in_training = true;
    }
};

struct Setter {
    std::string_view wanted, text;
    bool found = false;

    template <class T>
    void operator()(std::string_view name, T& field) {
        if (name != wanted) return;
        set(name, field, text);
        found = true;
    }
    template <class T>
    void operator()(std::string_view name, T& field, Choices choices) {
        if (name != wanted) return;
        set(name, field, text, choices);
        found = true;
    }
    template <class T>
    void operator()(std::string_view name, T& field, InTraining) {
        (*this)(name, field);
    }
};

}  // namespace detail

/// The settings of a struct, with its defaults; none where it does not list its fields.
template <class Settings>
std::vector<SettingSpec> list_settings() {
    detail::Lister lister;
    Settings settings;
    if constexpr (requires { settings.fields(lister); }) settings.fields(lister);
    return lister.list;
}

/// Sets one field from text; UserError for an unknown name or a value that does not fit.
template <class Settings>
void set_field(Settings& settings, std::string_view name, std::string_view text) {
    detail::Setter setter{name, text};
    if constexpr (requires { settings.fields(setter); }) settings.fields(setter);
    if (!setter.found) throw UserError("unknown setting '" + std::string(name) + "'");
}

}  // namespace fovea
