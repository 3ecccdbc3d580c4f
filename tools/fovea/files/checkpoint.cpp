#include "tools/fovea/files/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "codegen/base/error.h"
#include "codegen/graph/intern.h"
#include "runtime/error.h"
#include "runtime/files/files.h"
#include "runtime/files/json.h"
#include "runtime/language/checkpoint_folder.h"

namespace fovea::tool {

namespace {

namespace fs = std::filesystem;
using runtime::Json;
using runtime::setting_text;

/// What `rope_parameters` may hold; the share of turned features is checked like other fields.
constexpr std::string_view kOfPositions[] = {
    "rope_type",        "rope_theta",           "factor",    "original_max_position_embeddings",
    "low_freq_factor",  "high_freq_factor",     "beta_fast", "beta_slow",
    "attention_factor", "partial_rotary_factor"};

class ConfigFile {
  public:
    explicit ConfigFile(const std::string& folder)
        : path_((fs::path(folder) / "config.json").string()) {
        std::error_code error;
        if (fs::exists(path_, error) && !fs::is_regular_file(path_, error))
            throw UserError(fmt::format("'{}' is no file that can be read whole", path_));
        if (!fs::exists(path_, error))
            throw UserError(
                fmt::format("'{}' is no checkpoint: there is no '{}'; --checkpoint takes the "
                            "folder that save_pretrained wrote",
                            folder, path_));
        const std::vector<std::byte> bytes = runtime::read_file(path_);
        try {
            config_ =
                runtime::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        } catch (const runtime::UserError& mistake) {
            throw UserError(fmt::format("'{}': {}", path_, mistake.what()));
        }
        if (!config_.is_object())
            throw UserError(fmt::format("'{}' should be a JSON object, but is of kind {}", path_,
                                        config_.kind()));
        spread_positions();
        count_labels();
    }

    const Json* find(const std::string& name) const { return config_.find(name); }

    void verify(const CheckpointField& field, const std::string& model) const {
        const Json* value = find(field.name);
        if (!value || value->is_null()) return;
        const std::string text = setting_text(*value);
        if (std::ranges::find(field.values, text) != field.values.end()) return;
        throw UserError(fmt::format("'{}' has {} = {}, but {} is right for {} alone", path_,
                                    field.name, value->text(), model,
                                    fmt::join(field.values, " and ")));
    }

  private:
    /// Fields of rotary positions stand among the others; older files call the kind `type`.
    void spread_positions() {
        for (const char* name : {"rope_scaling", "rope_parameters"}) {
            const Json* found = config_.find(name);
            if (!found || found->is_null()) continue;
            if (!found->is_object())
                throw UserError(fmt::format("'{}': {} should be an object, but is of kind {}",
                                            path_, name, found->kind()));
            const Json fields = *found;
            for (const auto& [field, value] : fields.object()) {
                if (value.is_object())
                    throw UserError(
                        fmt::format("'{}': {} differ from layer to layer ('{}'), which no model "
                                    "has here",
                                    path_, name, field));
                const std::string own = field == "type" ? "rope_type" : field;
                if (std::ranges::find(kOfPositions, own) == std::end(kOfPositions))
                    throw UserError(fmt::format("'{}': {} has '{}', which no model has here", path_,
                                                name, field));
                config_.set(own, value);
            }
            verify_positions(name, fields);
        }
    }
    /// What the files of a kind always say: its default would be the positions of another model.
    void verify_positions(const char* name, const Json& fields) const {
        static const std::map<std::string_view, std::vector<const char*>> kNeeded = {
            {"linear", {"factor"}},
            {"yarn", {"factor"}},
            {"llama3",
             {"factor", "low_freq_factor", "high_freq_factor",
              "original_max_position_embeddings"}}};
        const Json* kind = fields.find("rope_type");
        if (!kind) kind = fields.find("type");
        if (!kind || !kind->is_string()) return;
        const auto needed = kNeeded.find(kind->string());
        if (needed == kNeeded.end()) return;
        for (const char* field : needed->second)
            if (!fields.find(field))
                throw UserError(fmt::format("'{}': {} of the kind {} lacks '{}'", path_, name,
                                            kind->string(), field));
    }
    /// Two, where neither their number nor their names are said.
    void count_labels() {
        const Json* labels = config_.find("id2label");
        if (config_.find("num_labels")) return;
        config_.set("num_labels", labels && labels->is_object()
                                      ? std::int64_t(labels->object().size())
                                      : std::int64_t(2));
    }

    std::string path_;
    Json config_;
};

}  // namespace

SettingValues settings_of_checkpoint(const ModelEntry& entry, const std::string& folder) {
    const ConfigFile config(folder);
    for (const CheckpointField& field : entry.checkpoint.fixed) config.verify(field, entry.name);
    SettingValues settings;
    for (const SettingSpec& spec : entry.settings) {
        const Json* value = config.find(spec.name);
        if (!value) continue;
        if (!value->is_null()) settings.emplace_back(spec.name, setting_text(*value));
        for (const auto& [name, text] : entry.checkpoint.nulls)
            if (value->is_null() && name == spec.name) settings.emplace_back(name, text);
    }
    return settings;
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
