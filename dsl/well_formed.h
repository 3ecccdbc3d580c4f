// `static_assert(well_formed<[](Scope s) { my_model(s, {}); }>)`: the compiler runs the model and, on
// a mistake, prints the sizes, the modules and the user's line.
//
// It runs twice: first it collects up to three messages, each of which becomes the template argument
// of a failing static_assert (that is how text gets into a compiler's output); then it stops at the
// first failing op by calling a function that is not constexpr, so that the compiler also prints its
// own stack of the user's calls.
#pragma once

#include "dsl/scope.h"

namespace fovea {

#if defined(__clang__)
/// clang prints at most 36 characters of an array: the message is cut at spaces into rows.
template <int Rows>
struct because {
    char line[Rows][37]{};
};
#else
/// g++ prints a char array of the exact size as text.
template <std::size_t Size>
struct because {
    char text[Size + 1]{};
};
#endif

namespace detail {

struct Report {
    Text messages[3];
    int count = 0;
};

template <class Model>
constexpr Report report(Model model) {
    Graph graph;
    model(Scope{&graph});
    Report result;
    for (const Diagnostic& error : graph.errors)
        if (result.count < 3) result.messages[result.count++] = graph.render(error);
    return result;
}

template <class Model>
constexpr bool stop_at_first_error(Model model) {
    Graph graph;
    graph.strict = true;
    model(Scope{&graph});
    return true;
}

template <auto Model>
inline constexpr Report report_of = report(Model);

#if defined(__clang__)
/// Calls `put(row, column, character)` for the text wrapped at 36 columns; gives the rows.
template <class Put>
constexpr int wrap(std::string_view text, Put put) {
    int row = 0, column = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (end < text.size() && text[end] != ' ' && end - i < 36) ++end;
        if (column + int(end - i) > 36) {
            ++row;
            column = 0;
            if (text[i] == ' ') ++i;
        }
        for (; i < end; ++i) put(row, column++, text[i]);
    }
    return row + 1;
}

template <auto Model, int Index>
constexpr auto message() {
    constexpr std::string_view text = report_of<Model>.messages[Index].view();
    because<wrap(text, [](int, int, char) {})> result;
    for (auto& line : result.line)
        for (int i = 0; i < 36; ++i) line[i] = ' ';
    wrap(text, [&](int row, int column, char c) { result.line[row][column] = c; });
    return result;
}
#else
template <auto Model, int Index>
constexpr auto message() {
    constexpr std::string_view text = report_of<Model>.messages[Index].view();
    because<text.size()> result;
    for (std::size_t i = 0; i < text.size(); ++i) result.text[i] = text[i];
    return result;
}
#endif

template <because>
inline constexpr bool no_mistake = false;

/// Whether the model can run while compiling at all: every function it calls is constexpr.
template <auto Model>
concept Constant = requires { typename std::bool_constant<(report(Model), true)>; };

}  // namespace detail

template <because Why>
struct ill_formed_model {
    static_assert(detail::no_mistake<Why>, "the model is ill-formed: read because{...} above");
    using type = void;
};

namespace detail {

template <auto Model>
constexpr bool check() {
    if constexpr (!Constant<Model>) {
        static_assert(Constant<Model>,
                      "the model cannot run while compiling: a module that it calls is not marked "
                      "constexpr, or a dim's name is not 1 to 12 of a-z, 0-9 and _");
        return false;
    } else {
        constexpr int count = report_of<Model>.count;
        if constexpr (count > 0) (void)sizeof(ill_formed_model<message<Model, 0>()>);
        if constexpr (count > 1) (void)sizeof(ill_formed_model<message<Model, 1>()>);
        if constexpr (count > 2) (void)sizeof(ill_formed_model<message<Model, 2>()>);
        if constexpr (count > 0) {
            constexpr bool stopped = stop_at_first_error(Model);
            return stopped;
        } else {
            return true;
        }
    }
}

}  // namespace detail

/// True for a model without mistakes; otherwise it does not compile.
template <auto Model>
inline constexpr bool well_formed = detail::check<Model>();

}  // namespace fovea
