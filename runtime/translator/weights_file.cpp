// Metadata of weights files, written and compared.
#include "weights_file.h"

#include <charconv>

#include "../error.h"
#include "../files/json.h"
#include "../files/weights_format.h"
#include "../load_parameters.h"
#include "limits.h"
#include "training/finite.h"
#include "vocabulary_dims.h"

namespace fovea::runtime {

namespace {

bool is_vocabulary_size(const std::string& name) {
    return name == "src_vocab" || name == "tgt_vocab";
}

std::string settings_json(const Model& model) {
    Json::Object settings;
    for (const Setting& setting : model.settings)
        settings.emplace_back(setting.name, setting.value);
    return Json(std::move(settings)).text();
}

Json parse_metadata(const SafetensorsFile& file, const std::string& key) {
    const std::string& text = file.metadata_at(key);
    try {
        return parse_json(text);
    } catch (const UserError& error) {
        throw UserError("'" + file.path() + "': " + key + " in its __metadata__: " + error.what());
    }
}

std::uint64_t parse_count(const SafetensorsFile& file, const std::string& key) {
    const std::string& text = file.metadata_at(key);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw UserError("'" + file.path() + "': " + key + " in its __metadata__ is '" + text +
                        "', which is not a whole number");
    }
    return value;
}

TokenKind read_token_kind(const SafetensorsFile& file) {
    if (!file.metadata().contains("tokens")) return TokenKind::words;
    const std::string& name = file.metadata_at("tokens");
    if (const auto kind = token_kind(name)) return *kind;
    throw UserError("'" + file.path() + "': tokens in its __metadata__ is '" + name +
                    "', but should be words, byte_pairs or cased_byte_pairs");
}

void verify_model_name(const SafetensorsFile& file, const Model& model) {
    const std::string& name = file.metadata_at("model");
    if (name == model.name) return;
    throw UserError("'" + file.path() + "' holds weights of the model '" + name +
                    "', but this program is the model '" + model.name + "'");
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.string() : value.text();
}

void verify_settings(const SafetensorsFile& file, const Model& model, ReadFor purpose) {
    const Json stored = parse_metadata(file, "settings");
    if (!stored.is_object()) {
        throw UserError("'" + file.path() + "': settings in its __metadata__ is no JSON object");
    }
    const std::string start = "'" + file.path() + "' holds a " + model.name + " with ";
    for (const Setting& setting : model.settings) {
        if (is_vocabulary_size(setting.name)) continue;
        if (setting.in_training && purpose == ReadFor::inference) continue;
        const Json* value = stored.find(setting.name);
        if (value ? value_text(*value) == setting.value : setting.is_default) continue;
        throw UserError((value ? start + setting.name + "=" + value_text(*value)
                               : start + "no setting " + setting.name) +
                        ", but this program was generated with " + setting.name + "=" +
                        setting.value);
    }
    for (const auto& [name, value] : stored.object()) {
        bool is_known = is_vocabulary_size(name);
        for (const Setting& setting : model.settings) is_known |= setting.name == name;
        if (is_known) continue;
        throw UserError(start + name + "=" + value_text(value) +
                        ", a setting that this program does not have");
    }
}

}  // namespace

Metadata header_metadata(const Model& model, const WeightsHeader& header) {
    Metadata metadata = weights_format();
    metadata.insert({{"model", model.name},
                     {"settings", settings_json(model)},
                     {"src_vocab", header.source.to_json()},
                     {"tgt_vocab", header.target.to_json()},
                     {"step", std::to_string(header.step)},
                     {"seed", std::to_string(header.seed)},
                     {"steps", std::to_string(header.steps)}});
    if (header.tokens != TokenKind::words) metadata["tokens"] = name_of(header.tokens);
    return metadata;
}

WeightsHeader read_header(const SafetensorsFile& file, const Model& model, ReadFor purpose) {
    verify_weights_format(file);
    verify_model_name(file, model);
    verify_settings(file, model, purpose);
    WeightsHeader header;
    header.source = Vocabulary::from_json(file.metadata_at("src_vocab"), "'" + file.path() + "'");
    header.target = Vocabulary::from_json(file.metadata_at("tgt_vocab"), "'" + file.path() + "'");
    header.step = parse_count(file, "step");
    header.seed = parse_count(file, "seed");
    if (file.metadata().contains("steps")) header.steps = parse_count(file, "steps");
    if (header.steps > std::uint64_t{kMostSteps})
        throw UserError("'" + file.path() + "': steps in its __metadata__ is " +
                        std::to_string(header.steps) + ", more than the most, " +
                        std::to_string(kMostSteps));
    header.tokens = read_token_kind(file);
    return header;
}

void save_weights(const std::string& path, Parameters& parameters, const WeightsHeader& header) {
    write_safetensors(path, parameter_tensors(parameters),
                      header_metadata(parameters.model(), header));
}

TrainedModel load_trained_model(const std::string& path, const Model& model) {
    const SafetensorsFile file = read_safetensors(path);
    TrainedModel trained;
    trained.header = read_header(file, model, ReadFor::inference);
    trained.dims = vocabulary_dims(model, trained.header.source, trained.header.target,
                                   "the vocabulary in '" + path + "'");
    trained.parameters = std::make_unique<Parameters>(model, trained.dims);
    // A checkpoint serves as well: its optimizer state is no surprise.
    load_parameters(*trained.parameters, file, kOptimizerPrefix);
    verify_finite(*trained.parameters, path);
    return trained;
}

}  // namespace fovea::runtime
