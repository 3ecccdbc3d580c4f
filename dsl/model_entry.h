// A model as the `fovea` command handles it: a function that builds its graph, and its settings.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/graph/whole_model.h"
#include "dsl/scope.h"
#include "dsl/settings.h"
#include "dsl/total_loss.h"

namespace fovea {

/// The main function that a built program gets.
enum class Driver { runner, translator };

using BuildGraph = std::function<Graph(const SettingValues&)>;

/// A further program over the parameters of the model's main function.
struct ExtraProgram {
    std::string name;
    BuildGraph build;
};

/// A field of a checkpoint's `config.json` that is no setting: the values of it that the model is
/// right for, as it is where the field is missing.
struct CheckpointField {
    std::string name;
    std::vector<std::string> values;
};

/// What a model makes of a `config.json` beside the fields that have the names of its settings.
struct CheckpointForm {
    std::vector<CheckpointField> fixed;
    /// Parts of parameters' names, and what stands there in files instead.
    std::vector<std::pair<std::string, std::string>> renamed = {};
};

struct ModelEntry {
    std::string name;
    std::string source;  // the file of its function, as the user wrote it
    std::vector<SettingSpec> settings;
    BuildGraph build;
    std::vector<ExtraProgram> programs;
    Driver driver = Driver::runner;
    SettingValues small_settings;  // what verification takes, unless told
    BuildGraph evaluation = {};    // what is reported and decoded; empty: as `build`
    CheckpointForm checkpoint = {};
};

/// The first mistakes of a model, together.
class ModelMistakes : public UserError {
  public:
    explicit ModelMistakes(std::vector<std::string> texts)
        : UserError(in_lines(texts)), texts_(std::move(texts)) {}

    const std::vector<std::string>& texts() const { return texts_; }

  private:
    static std::string in_lines(const std::vector<std::string>& texts) {
        std::string lines;
        for (const std::string& text : texts) lines += (lines.empty() ? "" : "\n") + text;
        return lines;
    }
    std::vector<std::string> texts_;
};

namespace detail {

template <class Function>
struct SettingsOf {
    using type = void;
};
template <class Settings>
struct SettingsOf<void (*)(Scope, Settings)> {
    using type = std::remove_cvref_t<Settings>;
};

/// The graph that `run` makes.
template <class Run>
Graph graph_of(const Run& run) {
    constexpr std::size_t kMost = 3;
    Graph graph;
    graph.collects = true;
    try {
        run(Scope{&graph});
    } catch (...) {
        if (graph.errors.empty()) throw;  // else what follows from a mistake
    }
    if (graph.errors.empty()) add_total_loss(graph);
    verify_whole(graph);
    graph.collects = false;
    std::vector<std::string> mistakes;
    for (std::size_t i = 0; i < std::min(graph.errors.size(), kMost); ++i)
        mistakes.emplace_back(graph.render(graph.errors[i]).view());
    if (!mistakes.empty()) throw ModelMistakes(mistakes);
    return graph;
}

template <auto Function, class Settings>
Graph build_graph(const SettingValues& values) {
    if constexpr (std::is_void_v<Settings>) {
        for (const auto& [name, value] : values)
            throw UserError("setting '" + name + "': the model takes no settings");
        return graph_of(Function);
    } else {
        Settings settings{};
        for (const auto& [name, value] : values) set_field(settings, name, value);
        return graph_of([&](Scope s) { Function(s, settings); });
    }
}

}  // namespace detail

/// Builds the graph of `void f(Scope)` or `void f(Scope, const Settings&)` for settings as text.
template <auto Function>
BuildGraph builder_of() {
    return detail::build_graph<Function, typename detail::SettingsOf<decltype(+Function)>::type>;
}

/// The entry of such a function. Of its settings those in `only` are offered; empty: all.
template <auto Function>
ModelEntry entry_of(std::string name, std::string source,
                    const std::vector<std::string>& only = {}) {
    using Settings = typename detail::SettingsOf<decltype(+Function)>::type;
    ModelEntry entry{
        std::move(name), std::move(source), {}, builder_of<Function>(), {}, Driver::runner, {}};
    if constexpr (!std::is_void_v<Settings>) {
        for (SettingSpec& spec : list_settings<Settings>()) {
            bool offered = only.empty();
            for (const std::string& wanted : only) offered = offered || wanted == spec.name;
            if (offered) entry.settings.push_back(std::move(spec));
        }
    }
    return entry;
}

}  // namespace fovea
