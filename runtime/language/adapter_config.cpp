#include "adapter_config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>

#include "../checkpoint/checkpoint_folder.h"
#include "../error.h"
#include "../files/files.h"
#include "../files/json.h"
#include "../options.h"

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

/// Fields that do not change what is computed with the pairs of a file: where they come from, how
/// they were trained, which layers have them, as the names of the tensors say, too. How the weight
/// of a layer lies (`fan_in_fan_out`), PEFT sets by the layer; pairs lie the same either way.
constexpr std::string_view kOpen[] = {"peft_type",
                                      "peft_version",
                                      "task_type",
                                      "base_model_name_or_path",
                                      "auto_mapping",
                                      "revision",
                                      "inference_mode",
                                      "runtime_config",
                                      "r",
                                      "lora_alpha",
                                      "lora_dropout",
                                      "fan_in_fan_out",
                                      "target_modules",
                                      "layers_pattern",
                                      "exclude_modules",
                                      "layers_to_transform",
                                      "megatron_core",
                                      "eva_config",
                                      "corda_config",
                                      "loftq_config",
                                      "qalora_group_size",
                                      "lora_ga_config",
                                      "ensure_weight_tying"};

/// How pairs may start with the weights as they are; other starts, such as PiSSA's, change these.
constexpr std::string_view kStarts[] = {"true",         "false",          "null",
                                        "\"gaussian\"", "\"orthogonal\"", "\"eva\""};

/// Values by which nothing is asked for.
constexpr std::string_view kUnset[] = {"null", "false", "{}", "[]", "\"\""};

bool is_one_of(std::span<const std::string_view> all, std::string_view text) {
    return std::ranges::find(all, text) != all.end();
}

/// Fields that nobody has heard of here may change what is computed.
void verify_adapter_field(const std::string& path, const std::string& field, const Json& value) {
    const std::string text = value.text();
    if (is_one_of(kOpen, field)) return;
    if (field == "bias" && text != "\"none\"")
        throw UserError("'{}' has bias = {}, but adapters here have none", {path, text});
    if (field == "init_lora_weights" && !is_one_of(kStarts, text))
        throw UserError(
            "'{}' has init_lora_weights = {}, which changes the weights beside the pairs: save the "
            "adapter as one of the weights as they are (path_initial_model_for_weight_conversion)",
            {path, text});
    if (field == "bias" || field == "init_lora_weights" || is_one_of(kUnset, text)) return;
    throw UserError("'{}' has {} = {}, which no program has here", {path, field, text});
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
    for (const auto& [field, value] : config.object()) verify_adapter_field(path, field, value);
    verify_number(config, path, "r", "lora", pair_setting(model, "lora_rank"));
    verify_number(config, path, "lora_alpha", "lora-alpha", pair_setting(model, "lora_alpha"));
}

}  // namespace fovea::runtime
