// `fovea models`: the models that have a name, their settings and defaults.
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/model/known_models.h"

namespace fovea::tool {

namespace {

nlohmann::ordered_json json_of(const ModelEntry& entry) {
    nlohmann::ordered_json settings = nlohmann::ordered_json::array();
    for (const SettingSpec& spec : entry.settings) {
        nlohmann::ordered_json value = nullptr;
        if (!spec.default_text.empty()) value = spec.default_text;
        settings.push_back({{"name", spec.name},
                            {"kind", spec.kind},
                            {"default", value},
                            {"in_training", spec.in_training}});
    }
    return {{"name", entry.name}, {"source", entry.source}, {"settings", settings}};
}

void print_entry(const ModelEntry& entry) {
    fmt::print("{}  ({})\n", entry.name, entry.source);
    std::size_t names = 10, kinds = 30;
    for (const SettingSpec& spec : entry.settings) {
        names = std::max(names, spec.name.size());
        kinds = std::max(kinds, spec.kind.size());
    }
    for (const SettingSpec& spec : entry.settings)
        fmt::print("    {:<{}}{:<{}}{}{}\n", spec.name, names + 2, spec.kind, kinds + 2,
                   !spec.default_text.empty()         ? spec.default_text
                   : spec.kind.starts_with("list of") ? "empty unless set"
                                                      : "symbolic unless set",
                   spec.in_training ? ", in training alone" : "");
}

int list_models(const Arguments& given) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ModelEntry& entry : known_models()) {
        if (given.has("json")) list.push_back(json_of(entry));
        else print_entry(entry);
    }
    if (given.has("json")) fmt::print("{}\n", list.dump(2));
    return 0;
}

}  // namespace

Command models_command() {
    po::options_description options("Options");
    options.add_options()("json", "print JSON");
    return {{"models",
             "list the built-in models and their settings",
             "",
             "Lists the models that have a name: settings, kinds, defaults.",
             {{"all models, with their settings", "fovea models"},
              {"the same for programs", "fovea models --json"}}},
            options,
            list_models};
}

}  // namespace fovea::tool
