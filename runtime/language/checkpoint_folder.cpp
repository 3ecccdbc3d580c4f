#include "checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <utility>

#include "../error.h"
#include "../files/files.h"
#include "../files/read_weights.h"
#include "checkpoint_config.h"

namespace fovea::runtime {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

/// What the files that a checkpoint has beside its weights say of a field, and where.
struct Said {
    Json value;
    std::string path;
};

std::optional<Said> said_beside(const std::string& weights, const char* field) {
    for (const char* name : {"generation_config.json", "config.json"}) {
        const std::optional<Json> config = object_beside(weights, name);
        const Json* value = config ? config->find(field) : nullptr;
        if (value && !value->is_null()) return Said{*value, (fs::path(weights) / name).string()};
    }
    return std::nullopt;
}

/// Settings that may be another's without changing what weights mean: how values lie, the most
/// positions, and pairs beside the weights.
bool may_differ(const std::string& setting) {
    constexpr std::string_view kOpen[] = {"dtype",       "weights",   "max_position_embeddings",
                                          "n_positions", "lora_rank", "lora_alpha"};
    return std::ranges::find(kOpen, setting) != std::end(kOpen);
}

/// Whether two texts are one value: the same text, or the same number.
bool is_value(const std::string& text, const std::string& other) {
    if (text == other) return true;
    const auto number = [](const std::string& from, float& to) {
        if (from == "true" || from == "false") return to = from == "true" ? 1 : 0, true;
        const char* const end = from.data() + from.size();
        const auto read = std::from_chars(from.data(), end, to);
        return read.ec == std::errc() && read.ptr == end;
    };
    float a = 0, b = 0;
    return number(text, a) && number(other, b) && a == b;
}

std::int32_t token_of(const Json& json, const std::string& path, const char* field,
                      const char* several = "") {
    if (!json.is_integer() || json.integer() < 0 || json.integer() > INT32_MAX)
        throw UserError("'{}': {} should be the number of a token{}, not {}",
                        {path, field, several, json.text()});
    return static_cast<std::int32_t>(json.integer());
}

/// `row` is one of Model::config_fields.
void verify_field(const CheckpointConfig& config, const std::string& row,
                  const std::string& model) {
    std::istringstream words(row);
    std::string field;
    words >> field;
    std::vector<std::string> values;
    for (std::string value; words >> value;) values.push_back(value);
    config.verify(field, values, model);
}

/// Whether a configuration tells of a setting: it says it, perhaps as a field of rotary positions,
/// or it is that of a model, which has the default of what it does not say.
bool tells_of(const Json& config, const std::string& setting) {
    const auto has = [&](const std::string& field) { return config.find(field) != nullptr; };
    return has(setting) || has("rope_scaling") || has("rope_parameters") || has("model_type");
}

void verify_setting(const CheckpointConfig& config, const std::string& path, const Model& model,
                    const Setting& setting) {
    const std::optional<std::string> value = config.value_of(setting.name);
    if (value ? is_value(*value, setting.value) : setting.is_default) return;
    const Json* field = config.find(setting.name);
    const std::string has = field ? "has " + setting.name + " = " + field->text()
                                  : "lacks " + setting.name + ", which then has its default";
    throw UserError(
        "'{}' {}, and this {} was built with {}: build one with `--checkpoint {}`, or give the "
        "file of the weights alone",
        {path, has, model.name, setting.value, fs::path(path).parent_path().string()});
}

}  // namespace

Json read_json_object(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    Json json;
    try {
        json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const UserError& mistake) {
        throw UserError("'{}': {}", {path, mistake.what()});
    }
    if (!json.is_object())
        throw UserError("'{}' should be a JSON object, but is of kind {}", {path, json.kind()});
    return json;
}

std::optional<std::string> tokenizer_beside(const std::string& weights) {
    const fs::path path = fs::path(weights) / "tokenizer.json";
    if (!is_file(path)) return std::nullopt;
    return path.string();
}

std::optional<Json> object_beside(const std::string& weights, const char* name) {
    const fs::path path = fs::path(weights) / name;
    if (!is_file(path)) return std::nullopt;
    return read_json_object(path.string());
}

SafetensorsFile read_checkpoint(const Model& model, const std::string& weights) {
    if (const std::optional<Json> object = object_beside(weights, "config.json")) {
        const std::string path = (fs::path(weights) / "config.json").string();
        const CheckpointConfig config(path, *object);
        for (const std::string& row : model.config_fields) verify_field(config, row, model.name);
        for (const Setting& setting : model.settings)
            if (!setting.in_training && !may_differ(setting.name) &&
                tells_of(*object, setting.name))
                verify_setting(config, path, model, setting);
    }
    return read_weights(weights);
}

std::vector<std::int32_t> ends_beside(const std::string& weights) {
    constexpr const char* kEnds = "eos_token_id";
    const std::optional<Said> ends = said_beside(weights, kEnds);
    if (!ends) return {};
    const auto token = [&](const Json& json) {
        return token_of(json, ends->path, kEnds, ", or several");
    };
    if (!ends->value.is_array()) return {token(ends->value)};
    std::vector<std::int32_t> tokens;
    for (const Json& end : ends->value.array()) tokens.push_back(token(end));
    return tokens;
}

std::optional<std::int32_t> start_beside(const std::string& weights) {
    for (const char* field : {"decoder_start_token_id", "bos_token_id"})
        if (const auto start = said_beside(weights, field))
            return token_of(start->value, start->path, field);
    return std::nullopt;
}

}  // namespace fovea::runtime
