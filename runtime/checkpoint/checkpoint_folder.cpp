#include "checkpoint_folder.h"

#include <filesystem>

#include "../error.h"
#include "../files/files.h"

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

std::int32_t token_of(const Json& json, const std::string& path, const char* field,
                      const char* several = "") {
    if (!json.is_integer() || json.integer() < 0 || json.integer() > INT32_MAX)
        throw UserError("'{}': {} should be the number of a token{}, not {}",
                        {path, field, several, json.text()});
    return static_cast<std::int32_t>(json.integer());
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
