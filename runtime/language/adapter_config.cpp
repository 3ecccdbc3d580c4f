#include "adapter_config.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "../error.h"
#include "../files/files.h"
#include "../files/json.h"
#include "../options.h"
#include "checkpoint_folder.h"

namespace fovea::runtime {

namespace {

namespace fs = std::filesystem;

constexpr const char* kAdapterFile = "adapter_model.safetensors";
constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr std::string_view kPairEnd = ".lora_A.weight";

/// The last part of the names of layers with pairs: `q_proj`.
Json::Array modules_with_pairs(const Model& model) {
    std::set<std::string> names;
    for (const TensorSpec& spec : model.parameters) {
        if (spec.frozen || !spec.name.ends_with(kPairEnd)) continue;
        const std::string layer = spec.name.substr(0, spec.name.size() - kPairEnd.size());
        names.insert(layer.substr(layer.rfind('.') + 1));
    }
    Json::Array modules;
    for (const std::string& name : names) modules.emplace_back(name);
    return modules;
}

/// The value of `lora_rank` or `lora_alpha`.
const std::string& pair_setting(const Model& model, std::string_view name) {
    const auto found = std::ranges::find(model.settings, name, &Setting::name);
    if (found == model.settings.end())
        throw InternalError("{} has pairs, but no setting '{}'", {model.name, name});
    return found->value;
}

/// The path of the configuration; empty where the adapter is called otherwise.
std::string config_beside(const std::string& adapter) {
    const fs::path path(adapter);
    return path.filename() == kAdapterFile ? (path.parent_path() / kAdapterConfig).string() : "";
}

void verify_number(const Json& config, const std::string& path, const char* field,
                   const char* option, const std::string& own) {
    const Json* value = config.find(field);
    if (value && value->is_number() && value->number() == parse_number(own)) return;
    throw UserError(
        "'{}' has {} = {}, but this program was built with --{} {}: build one with the same",
        {path, field, value ? value->text() : "nothing", option, own});
}

bool is_empty(const Json& value) {
    const std::string text = value.text();
    return text == "null" || text == "{}" || text == "[]";
}

}  // namespace

std::string adapter_file(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return path;
    const fs::path inside = fs::path(path) / kAdapterFile;
    if (fs::exists(inside, error)) return inside.string();
    throw UserError("'{}' is a folder without {}", {path, kAdapterFile});
}

void write_adapter_config(const Model& model, const std::string& adapter) {
    const std::string path = config_beside(adapter);
    if (path.empty()) return;
    const Json config = Json::Object{{"peft_type", "LORA"},
                                     {"task_type", "CAUSAL_LM"},
                                     {"base_model_name_or_path", nullptr},
                                     {"r", parse_json(pair_setting(model, "lora_rank"))},
                                     {"lora_alpha", parse_json(pair_setting(model, "lora_alpha"))},
                                     {"lora_dropout", 0.0},
                                     {"target_modules", modules_with_pairs(model)},
                                     {"bias", "none"},
                                     {"inference_mode", true}};
    write_file_atomically(path, config.text() + "\n");
}

void verify_adapter_config(const Model& model, const std::string& adapter) {
    const std::string path = config_beside(adapter);
    std::error_code error;
    if (path.empty() || !fs::exists(path, error)) return;
    const Json config = read_json_object(path);
    const Json* kind = config.find("peft_type");
    if (!kind || !kind->is_string() || kind->string() != "LORA")
        throw UserError("'{}' has peft_type = {}, but adapters here are LORA",
                        {path, kind ? kind->text() : "nothing"});
    for (const char* other : {"use_dora", "use_rslora", "lora_bias"})
        if (const Json* value = config.find(other); value && value->text() == "true")
            throw UserError("'{}' has {} = true, which no program has here", {path, other});
    for (const char* other : {"alpha_pattern", "rank_pattern", "modules_to_save"})
        if (const Json* value = config.find(other); value && !is_empty(*value))
            throw UserError("'{}' has {} = {}, which no program has here",
                            {path, other, value->text()});
    if (const Json* bias = config.find("bias"); bias && bias->text() != "\"none\"")
        throw UserError("'{}' has bias = {}, but adapters here have none", {path, bias->text()});
    verify_number(config, path, "r", "lora", pair_setting(model, "lora_rank"));
    verify_number(config, path, "lora_alpha", "lora-alpha", pair_setting(model, "lora_alpha"));
}

}  // namespace fovea::runtime
