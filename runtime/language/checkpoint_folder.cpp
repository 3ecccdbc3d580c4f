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

Json read_object(const std::string& path) {
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

std::int32_t token_of(const Json& json, const std::string& path) {
    if (!json.is_integer() || json.integer() < 0 || json.integer() > INT32_MAX)
        throw UserError("'{}': eos_token_id should be the number of a token, or several, not {}",
                        {path, json.text()});
    return static_cast<std::int32_t>(json.integer());
}

}  // namespace

std::optional<std::string> tokenizer_beside(const std::string& weights) {
    const fs::path path = fs::path(weights) / "tokenizer.json";
    if (!is_file(path)) return std::nullopt;
    return path.string();
}

std::optional<Json> object_beside(const std::string& weights, const char* name) {
    const fs::path path = fs::path(weights) / name;
    if (!is_file(path)) return std::nullopt;
    return read_object(path.string());
}

std::vector<std::int32_t> ends_beside(const std::string& weights) {
    for (const char* name : {"generation_config.json", "config.json"}) {
        const std::string path = (fs::path(weights) / name).string();
        const std::optional<Json> config = object_beside(weights, name);
        if (!config) continue;
        const Json* ends = config->find("eos_token_id");
        if (!ends || ends->is_null()) continue;
        if (!ends->is_array()) return {token_of(*ends, path)};
        std::vector<std::int32_t> tokens;
        for (const Json& end : ends->array()) tokens.push_back(token_of(end, path));
        return tokens;
    }
    return {};
}

}  // namespace fovea::runtime
