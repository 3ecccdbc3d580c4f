#include "read_weights.h"

#include <filesystem>
#include <map>
#include <set>

#include "../error.h"
#include "json.h"
#include "mapped_file.h"

namespace fovea::runtime {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

SafetensorsFile read_one(const std::string& path) {
    MappedFile file = map_file(path);
    return {path, file.bytes, std::move(file.owner)};
}

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error);
}

/// The file of each tensor, by name.
std::map<std::string, std::string> files_of_tensors(const std::string& index) {
    const std::vector<std::byte> bytes = read_file(index);
    const auto fail = [&](std::string_view form, std::initializer_list<Piece> pieces) {
        throw UserError("'{}' is not the index of a checkpoint: {}", {index, format(form, pieces)});
    };
    Json json;
    try {
        json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const UserError& error) {
        fail("{}", {error.what()});
    }
    const Json* map = json.is_object() ? json.find("weight_map") : nullptr;
    if (!map || !map->is_object()) fail("it has no object 'weight_map'", {});
    std::map<std::string, std::string> files;
    for (const auto& [name, file] : map->object()) {
        const bool is_name = file.is_string() && !file.string().empty() &&
                             file.string().find('/') == std::string::npos;
        if (!is_name)
            fail("tensor '{}' should have the name of a file, not {}", {name, file.text()});
        files[name] = file.string();
    }
    if (files.empty()) fail("'weight_map' is empty", {});
    return files;
}

SafetensorsFile read_shards(const fs::path& folder) {
    const std::string index = (folder / kIndex).string();
    const std::map<std::string, std::string> files = files_of_tensors(index);
    std::map<std::string, SafetensorsFile> shards;
    for (const auto& [name, file] : files) {
        auto shard = shards.find(file);
        if (shard == shards.end())
            shard = shards.emplace(file, read_one((folder / file).string())).first;
        if (!shard->second.find(name))
            throw UserError("'{}' lacks tensor '{}', which '{}' says is there",
                            {shard->second.path(), name, index});
    }
    SafetensorsFile all = std::move(shards.begin()->second);
    all.rename(folder.string());
    for (auto other = std::next(shards.begin()); other != shards.end(); ++other)
        all.merge(std::move(other->second));
    return all;
}

}  // namespace

SafetensorsFile read_weights(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return read_one(path);
    const fs::path folder = path;
    if (is_there(folder / kFile)) return read_one((folder / kFile).string());
    if (is_there(folder / kIndex)) return read_shards(folder);
    throw UserError("'{}' is a folder without {} and without {}", {path, kFile, kIndex});
}

}  // namespace fovea::runtime
