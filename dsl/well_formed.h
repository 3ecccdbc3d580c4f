// `static_assert(well_formed<[](Scope s) { my_model(s, {}); }>)`: the compiler runs the model and,
// on a mistake, prints the sizes, the modules and the user's line.
//
// A wrong model runs again: to collect up to three messages, each of which becomes the template
// argument of a failing static_assert (that is how text gets into a compiler's output), and to stop
// at the first failing op by calling a function that is not constexpr, so that the compiler also
// prints its own stack of the user's calls.
#pragma once

#include "codegen/graph/whole_model.h"
#include "dsl/scope.h"
#include "dsl/total_loss.h"

namespace fovea {

#if defined(__clang__)
/// clang prints at most 36 characters of a string and 10 elements of an array: the message is cut
/// into rows, and the rows into groups. A row ends in a blank unless a word goes on in the next.
template <int Groups>
struct because {
    static constexpr int kRows = 8, kColumns = 36;
    char line[Groups][kRows][kColumns + 1]{};
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
    add_total_loss(graph);
    verify_whole(graph);
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
    add_total_loss(graph);
    verify_whole(graph);
    return true;
}

template <auto Model>
inline constexpr Report report_of = report(Model);

#if defined(__clang__)
/// Calls `put(row, column, character)` for the text, wrapped behind blanks; gives the rows.
template <class Put>
constexpr int wrap(std::string_view text, Put put) {
    constexpr int columns = because<1>::kColumns;
    int row = 0, column = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && text[end] != ' ') ++end;
        if (end < text.size()) ++end;
        if (column > 0 && column + int(end - i) > columns) {
            ++row;
            column = 0;
        }
        for (; i < end; ++i) {
            if (column == columns) {
                ++row;
                column = 0;
            }
            put(row, column++, text[i]);
        }
    }
    return row + 1;
}

template <auto Model, int Index>
constexpr auto message() {
    constexpr std::string_view text = report_of<Model>.messages[Index].view();
    constexpr int rows = because<1>::kRows;
    because<(wrap(text, [](int, int, char) {}) + rows - 1) / rows> result;
    for (auto& group : result.line)
        for (auto& line : group)
            for (char& c : line) c = &c == line + because<1>::kColumns ? '\0' : ' ';
    wrap(text,
         [&](int row, int column, char c) { result.line[row / rows][row % rows][column] = c; });
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

template <class Model>
constexpr int count_errors(Model model) {
    Graph graph;
    model(Scope{&graph});
    add_total_loss(graph);
    verify_whole(graph);
    return int(graph.errors.size());
}

/// Not constexpr, so that a model which cannot run while compiling is found by `Constant`, and is
/// no error yet. A right model runs once, here.
template <auto Model>
inline const int error_count = count_errors(Model);

/// Whether the model can run while compiling at all: every function it calls is constexpr.
template <auto Model>
concept Constant = requires { typename std::integral_constant<int, error_count<Model>>; };

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
                      "constexpr, it uses a Tensor that no op has made, or it takes more work than "
                      "the compiler's limit: the next error says which, and the option that lifts "
                      "it (clang: -fconstexpr-steps=N, g++: -fconstexpr-ops-limit=N)");
        // Again, so that the compiler prints its own reason.
        constexpr int count = count_errors(Model);
        return count == 0;
    } else {
        constexpr int count = error_count<Model>;
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
