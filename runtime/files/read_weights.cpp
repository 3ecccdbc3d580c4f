#include "read_weights.h"

#include <sys/stat.h>

#include <vector>

#include "../error.h"
#include "json.h"
#include "mapped_file.h"

namespace fovea::runtime {

namespace {

constexpr const char* kFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

SafetensorsFile read_one(const std::string& path) { return {path, map_file(path)}; }

/// What stands at a path: of the kinds S_IFDIR, S_IFREG, …; 0: nothing.
mode_t kind_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

/// `weight_map` of an index: the file of each tensor, by name.
Json read_index(const std::string& path) {
    const auto fail = [&](std::string_view form, std::initializer_list<Piece> pieces) {
        throw UserError("'{}' is not the index of a checkpoint: {}", {path, format(form, pieces)});
    };
    const std::vector<std::byte> bytes = read_file(path);
    Json json;
    try {
        json = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const UserError& error) {
        fail("{}", {error.what()});
    }
    const Json* map = json.is_object() ? json.find("weight_map") : nullptr;
    if (!map || !map->is_object()) fail("it has no object 'weight_map'", {});
    for (const auto& [name, file] : map->object())
        if (!file.is_string() || file.string().empty() ||
            file.string().find_first_of(std::string_view("/\0", 2)) != std::string::npos)
            fail("tensor '{}' should have the name of a file, not {}", {name, file.text()});
    if (map->object().empty()) fail("'weight_map' is empty", {});
    return *map;
}

SafetensorsFile read_shards(const std::string& folder) {
    const std::string index = folder + "/" + kIndex;
    const Json files = read_index(index);
    std::vector<std::string> names;
    std::vector<SafetensorsFile> shards;
    for (const auto& [name, file] : files.object()) {
        std::size_t i = 0;
        while (i < names.size() && names[i] != file.string()) ++i;
        if (i == names.size()) {
            names.push_back(file.string());
            shards.push_back(read_one(folder + "/" + names.back()));
        }
        if (!shards[i].find(name))
            throw UserError("'{}' lacks tensor '{}', which '{}' says is there",
                            {shards[i].path(), name, index});
    }
    SafetensorsFile all = std::move(shards.front());
    all.rename(folder);
    for (std::size_t i = 1; i < shards.size(); ++i) all.merge(std::move(shards[i]));
    return all;
}

}  // namespace

SafetensorsFile read_weights(const std::string& path) {
    if (kind_of(path) != S_IFDIR) return read_one(path);
    std::string folder = path;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    const std::string whole = folder + "/" + kFile;
    if (kind_of(whole)) return read_one(whole);
    if (kind_of(folder + "/" + kIndex)) return read_shards(folder);
    throw UserError("'{}' is a folder without {} and without {}", {path, kFile, kIndex});
}

}  // namespace fovea::runtime
