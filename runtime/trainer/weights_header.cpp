// Metadata of weights, written and compared.
#include "weights_header.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "../error.h"
#include "../files/json.h"
#include "../files/weights_format.h"

namespace fovea::runtime {

namespace {

using OpenSettings = std::span<const char* const>;

bool is_open(OpenSettings open, std::string_view name) {
    return std::find(open.begin(), open.end(), name) != open.end();
}

std::string settings_json(const Model& model) {
    Json::Object settings;
    for (const Setting& setting : model.settings)
        settings.emplace_back(setting.name, setting.value);
    return Json(std::move(settings)).text();
}

Json stored_settings(const SafetensorsFile& file) {
    Json settings;
    try {
        settings = parse_json(file.metadata_at("settings"));
    } catch (const UserError& error) {
        throw UserError("'{}': settings in its __metadata__: {}", {file.path(), error.what()});
    }
    if (!settings.is_object())
        throw UserError("'{}': settings in its __metadata__ is no JSON object", {file.path()});
    return settings;
}

void verify_model_name(const SafetensorsFile& file, const Model& model) {
    const std::string& name = file.metadata_at("model");
    if (name == model.name) return;
    throw UserError("'{}' holds weights of the model '{}', but this program is the model '{}'",
                    {file.path(), name, model.name});
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.string() : value.text();
}

void verify_settings(const SafetensorsFile& file, const Model& model, ReadFor purpose,
                     OpenSettings open) {
    const Json stored = stored_settings(file);
    const std::string start = "'" + file.path() + "' holds a " + model.name + " with ";
    for (const Setting& setting : model.settings) {
        if (is_open(open, setting.name)) continue;
        if (setting.in_training && purpose == ReadFor::inference) continue;
        const Json* value = stored.find(setting.name);
        if (value ? value_text(*value) == setting.value : setting.is_default) continue;
        throw UserError((value ? start + setting.name + "=" + value_text(*value)
                               : start + "no setting " + setting.name) +
                        ", but this program was generated with " + setting.name + "=" +
                        setting.value);
    }
    for (const auto& [name, value] : stored.object()) {
        bool is_known = is_open(open, name);
        for (const Setting& setting : model.settings) is_known |= setting.name == name;
        if (is_known) continue;
        throw UserError(start + name + "=" + value_text(value) +
                        ", a setting that this program does not have");
    }
}

}  // namespace

Metadata weights_metadata(const Model& model, std::uint64_t step, std::uint64_t seed) {
    Metadata metadata = weights_format();
    metadata.insert({{"model", model.name},
                     {"settings", settings_json(model)},
                     {"step", std::to_string(step)},
                     {"seed", std::to_string(seed)}});
    return metadata;
}

void verify_weights(const SafetensorsFile& file, const Model& model, ReadFor purpose,
                    OpenSettings open) {
    verify_weights_format(file);
    verify_model_name(file, model);
    verify_settings(file, model, purpose, open);
}

void verify_trained(const SafetensorsFile& weights, const Model& model) {
    static constexpr const char* kOpen[] = {"dtype", "weights", "lora_rank", "lora_alpha"};
    const Metadata& metadata = weights.metadata();
    if (!metadata.contains("model") || !metadata.contains("settings"))
        return verify_weights_format(weights);
    verify_weights(weights, model, ReadFor::inference, kOpen);
}

void remove_prefix(SafetensorsFile& file, const std::string& prefix) {
    std::map<std::string, std::string> names;
    for (const TensorView& tensor : file.tensors())
        if (!prefix.empty() && tensor.name.starts_with(prefix))
            names[tensor.name] = tensor.name.substr(prefix.size());
    file.rename_tensors(names);
}

std::uint64_t count_at(const SafetensorsFile& file, const std::string& key) {
    const std::string& text = file.metadata_at(key);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw UserError("'{}': {} in its __metadata__ is '{}', which is not a whole number",
                        {file.path(), key, text});
    return value;
}

}  // namespace fovea::runtime
