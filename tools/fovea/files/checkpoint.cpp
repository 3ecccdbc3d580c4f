#include "tools/fovea/files/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>

#include "codegen/base/error.h"
#include "codegen/graph/intern.h"
#include "runtime/checkpoint/checkpoint_config.h"
#include "runtime/checkpoint/checkpoint_folder.h"
#include "runtime/error.h"
#include "runtime/files/json.h"
#include "runtime/files/printable.h"

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

/// A name or a value of a file, as it may stand in a line for readers.
std::string shown(const std::string& text) {
    constexpr std::size_t kMost = 60;
    const std::string whole = runtime::printable(text);
    return whole.size() <= kMost ? whole : whole.substr(0, kMost) + "…";
}

/// Fields that the model has no settings for are said, and become those that it is right for.
void keep_unread(ModelEntry& entry, const runtime::CheckpointConfig& config,
                 const std::vector<std::string>& settings, const std::string& path) {
    std::string list;
    for (auto& [field, value] : config.unread(settings)) {
        if (field != "model_type")
            list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", shown(field), shown(value));
        entry.checkpoint.fixed.push_back({std::move(field), {std::move(value)}});
    }
    if (!list.empty())
        fmt::print(stderr, "warning: '{}' says what {} has no settings for: {}\n", path, entry.name,
                   list);
}

/// Blanks as `\s`, line feeds as `\n`, and backslashes double.
std::string without_blanks(const std::string& text) {
    std::string result;
    for (const char c : text)
        if (c == ' ') result += "\\s";
        else if (c == '\n') result += "\\n";
        else if (c == '\\') result += "\\\\";
        else result += c;
    return result;
}

}  // namespace

SettingValues settings_of_checkpoint(ModelEntry& entry, const std::string& folder) {
    const std::string path = (fs::path(folder) / "config.json").string();
    try {
        const runtime::CheckpointConfig config(path, read_config(folder, path));
        std::vector<std::string> names;
        for (const SettingSpec& spec : entry.settings) names.push_back(spec.name);
        for (const CheckpointField& field : entry.checkpoint.fixed)
            config.verify(field.name, field.values, entry.name);
        config.verify_settings_of_positions(names);
        if (entry.checkpoint.fixed.empty()) keep_unread(entry, config, names, path);
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
    for (const CheckpointField& field : form.fixed) {
        rows.push_back(without_blanks(field.name));
        for (const std::string& value : field.values) rows.back() += " " + without_blanks(value);
    }
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
