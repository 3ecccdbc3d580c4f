#include "tools/fovea/files/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "codegen/base/error.h"
#include "codegen/graph/intern.h"
#include "runtime/checkpoint/checkpoint_config.h"
#include "runtime/checkpoint/checkpoint_folder.h"
#include "runtime/error.h"
#include "runtime/files/json.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;
using runtime::Json;

Json read_config(const std::string& folder, const std::string& path) {
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        throw UserError(fmt::format("'{}' is no file that can be read whole", path));
    if (!fs::exists(path, error))
        throw UserError(
            fmt::format("'{}' is no checkpoint: there is no '{}'; --checkpoint takes the "
                        "folder that save_pretrained wrote",
                        folder, path));
    return runtime::read_json_object(path);
}

/// Fields that the model has no settings for are said, and become those that it is right for.
void keep_unread(ModelEntry& entry, const runtime::CheckpointConfig& config,
                 const std::vector<std::string>& settings, const std::string& path) {
    std::string list;
    for (auto& [field, value] : config.unread(settings)) {
        if (field != "model_type")
            list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", field, value);
        if (value.find(' ') == std::string::npos)
            entry.checkpoint.fixed.push_back({std::move(field), {std::move(value)}});
    }
    if (!list.empty())
        fmt::print(stderr, "warning: '{}' says what {} has no settings for: {}\n", path, entry.name,
                   list);
}

}  // namespace

SettingValues settings_of_checkpoint(ModelEntry& entry, const std::string& folder) {
    const std::string path = (fs::path(folder) / "config.json").string();
    try {
        const runtime::CheckpointConfig config(path, read_config(folder, path));
        std::vector<std::string> names;
        for (const SettingSpec& spec : entry.settings) names.push_back(spec.name);
        config.verify_settings_of_positions(names);
        if (entry.checkpoint.fixed.empty()) keep_unread(entry, config, names, path);
        for (const CheckpointField& field : entry.checkpoint.fixed)
            config.verify(field.name, field.values, entry.name);
        SettingValues settings;
        for (const SettingSpec& spec : entry.settings)
            if (const auto value = config.value_of(spec.name))
                settings.emplace_back(spec.name, *value);
        return settings;
    } catch (const runtime::UserError& mistake) {
        throw UserError(mistake.what());
    }
}

std::vector<std::string> config_fields(const CheckpointForm& form) {
    std::vector<std::string> rows;
    for (const CheckpointField& field : form.fixed)
        rows.push_back(fmt::format("{} {}", field.name, fmt::join(field.values, " ")));
    return rows;
}

void add_names_in_files(Graph& graph, const CheckpointForm& form) {
    std::vector<ParameterAlias> aliases;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph[int(i)];
        if (node.op != Op::parameter) continue;
        const std::string own = graph.path(node.scope);
        std::string name = own;
        for (const auto& [part, there] : form.renamed)
            if (const std::size_t at = name.find(part); at != std::string::npos)
                name.replace(at, part.size(), there);
        if (name != own)
            aliases.push_back({graph.add_scope(0, intern(name), -1, false, {}), node.scope});
    }
    for (const ParameterAlias& alias : aliases) graph.aliases.push_back(alias);
}

}  // namespace fovea::tool
