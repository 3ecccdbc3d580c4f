// Tensors for weights, JSON in the metadata for the rest.
#include "saved_maps.h"

#include <algorithm>
#include <cstring>

#include "../error.h"
#include "../files/json.h"
#include "../safetensors.h"

namespace fovea::runtime {

namespace {

constexpr const char *kAxes = "axes", *kSource = "source", *kRead = "read", *kProduced = "produced";
constexpr const char* kAxisNames[] = {"source", "target"};

std::string words_as_json(const std::vector<std::string>& words) {
    Json::Array list;
    for (const std::string& word : words) list.push_back(word);
    return Json(std::move(list)).text();
}

std::vector<std::string> words_in(const SafetensorsFile& file, const char* key) {
    std::vector<std::string> words;
    const Json list = parse_json(file.metadata_at(key));
    for (const Json& word : list.array()) words.push_back(word.string());
    return words;
}

[[noreturn]] void refuse_map(const SafetensorsFile& file, const TensorView& tensor,
                             const std::string& what) {
    throw UserError("'" + tensor.name + "' of '" + file.path() + "' is no attention map: " + what);
}

AttentionMap saved_map(const SafetensorsFile& file, const TensorView& tensor) {
    if (tensor.dtype != "F32" || tensor.shape.size() != 3)
        refuse_map(file, tensor, "one is F32 of rank 3: heads, queries, keys");
    AttentionMap map;
    map.name = tensor.name;
    map.heads = tensor.shape[0];
    map.queries = tensor.shape[1];
    map.keys = tensor.shape[2];
    map.weights.resize(tensor.bytes.size() / sizeof(float));
    if (!map.weights.empty())
        std::memcpy(map.weights.data(), tensor.bytes.data(), tensor.bytes.size());
    return map;
}

/// The maps in the order in which the metadata names them, which is that of the model.
void sort_maps(std::vector<AttentionMap>& maps, const Json& axes) {
    const auto place = [&](const AttentionMap& map) { return axes.find(map.name); };
    std::sort(maps.begin(), maps.end(),
              [&](const AttentionMap& a, const AttentionMap& b) { return place(a) < place(b); });
}

/// The axes that the metadata says, where there are as many tokens.
void set_axes(AttentionMap& map, const SafetensorsFile& file, const TensorView& tensor,
              const Json& axes, const MapTokens& tokens) {
    const Json* found = axes.find(map.name);
    if (!found || found->array().size() != 2) refuse_map(file, tensor, "its axes have no names");
    const auto axis = [&](std::size_t i) {
        return found->array()[i].string() == kAxisNames[0] ? MapAxis::source : MapAxis::target;
    };
    map.query_axis = axis(0);
    map.key_axis = axis(1);
    const bool of_source = map.query_axis == MapAxis::source;
    const std::size_t queries = (of_source ? tokens.source : tokens.produced).size();
    const std::size_t keys = (map.key_axis == MapAxis::source ? tokens.source : tokens.read).size();
    if (static_cast<std::size_t>(map.queries) != queries ||
        static_cast<std::size_t>(map.keys) != keys)
        refuse_map(file, tensor,
                   "it has " + std::to_string(map.queries) + " queries and " +
                       std::to_string(map.keys) + " keys for " + std::to_string(queries) + " and " +
                       std::to_string(keys) + " tokens");
}

}  // namespace

void save_attention_maps(const std::string& path, const SavedMaps& saved) {
    std::vector<TensorView> tensors;
    Json axes = Json::Object{};
    for (const AttentionMap& map : saved.maps) {
        tensors.push_back(f32_tensor(map.name, {map.heads, map.queries, map.keys}, map.weights));
        axes.set(map.name, Json::Array{kAxisNames[static_cast<int>(map.query_axis)],
                                       kAxisNames[static_cast<int>(map.key_axis)]});
    }
    write_safetensors(path, std::move(tensors),
                      {{kAxes, axes.text()},
                       {kSource, words_as_json(saved.tokens.source)},
                       {kRead, words_as_json(saved.tokens.read)},
                       {kProduced, words_as_json(saved.tokens.produced)}});
}

SavedMaps read_attention_maps(const std::string& path) {
    const SafetensorsFile file = read_safetensors(path);
    SavedMaps saved;
    const bool has_tokens = file.metadata().count(kAxes) > 0;
    Json axes;
    if (has_tokens) {
        axes = parse_json(file.metadata_at(kAxes));
        saved.tokens = {words_in(file, kSource), words_in(file, kRead), words_in(file, kProduced)};
    }
    std::vector<std::string>& numbers = saved.tokens.source;
    for (const TensorView& tensor : file.tensors()) {
        AttentionMap map = saved_map(file, tensor);
        if (has_tokens) set_axes(map, file, tensor, axes, saved.tokens);
        const auto most = static_cast<std::size_t>(std::max(map.queries, map.keys));
        while (!has_tokens && numbers.size() < most)
            numbers.push_back(std::to_string(numbers.size() + 1));
        saved.maps.push_back(std::move(map));
    }
    if (has_tokens) sort_maps(saved.maps, axes);
    if (saved.maps.empty()) throw UserError("'" + path + "' has no attention maps");
    return saved;
}

}  // namespace fovea::runtime
