#include "checkpoint_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "../error.h"
#include "../files/files.h"
#include "../files/read_weights.h"

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

/// A field of a configuration, or of what it says of rotary positions; null where it says nothing.
const Json* field_of(const Json& config, const std::string& name) {
    if (const Json* own = config.find(name)) return own;
    for (const char* of_positions : {"rope_parameters", "rope_scaling"}) {
        const Json* fields = config.find(of_positions);
        if (!fields || !fields->is_object()) continue;
        if (const Json* field = fields->find(name)) return field;
        if (const Json* kind = fields->find("type"); kind && name == "rope_type") return kind;
    }
    return nullptr;
}

/// Settings that may be another's without changing what weights mean: how values lie, and the most
/// positions.
bool may_differ(const std::string& setting) {
    constexpr std::string_view kOpen[] = {"dtype", "weights", "max_position_embeddings",
                                          "n_positions"};
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

}  // namespace

std::string setting_text(const Json& value) {
    if (value.is_string()) return value.string();
    if (!value.is_array()) return value.text();
    std::string list;
    for (const Json& item : value.array()) list += (list.empty() ? "" : ",") + setting_text(item);
    return list;
}

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
    if (const std::optional<Json> config = object_beside(weights, "config.json"))
        for (const Setting& setting : model.settings) {
            if (setting.in_training || may_differ(setting.name)) continue;
            const Json* field = field_of(*config, setting.name);
            if (!field || field->is_null() || is_value(setting_text(*field), setting.value))
                continue;
            throw UserError(
                "'{}' has {} = {}, and this {} was built with {}: build one with `--checkpoint "
                "{}`, "
                "or give the file of the weights alone",
                {(fs::path(weights) / "config.json").string(), setting.name, field->text(),
                 model.name, setting.value, weights});
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
