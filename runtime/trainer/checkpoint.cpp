// Writing, reading and comparing checkpoints.
#include "checkpoint.h"

#include <charconv>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "../error.h"
#include "../files/json.h"
#include "../load_parameters.h"
#include "fingerprint.h"
#include "finite.h"

namespace fovea::runtime {

namespace {

constexpr const char* kBaseKey = "base";

/// `optimizer.m.decoder.dense.bias`
std::string tensor_name(const OptimizerState& state, const TensorSpec& parameter) {
    return kOptimizerPrefix + state.name + "." + parameter.name;
}

// By the options' names, so that a difference can be told in them.
Json::Object settings_by_name(const TrainingSettings& settings) {
    const LearningRate& rate = settings.learning_rate;
    const OptimizerSettings& optimizer = settings.optimizer;
    return Json::Object{{"batch", settings.batch},
                        {"accumulate", settings.accumulate},
                        {"validation", settings.validation},
                        {"lr", rate.rate},
                        {"schedule", name_of(rate.schedule)},
                        {"warmup", static_cast<std::int64_t>(rate.warmup)},
                        {"total-steps", static_cast<std::int64_t>(rate.total)},
                        {"optimizer", name_of(optimizer.kind)},
                        {"momentum", optimizer.momentum},
                        {"weight-decay", optimizer.weight_decay},
                        {"beta1", optimizer.beta1},
                        {"beta2", optimizer.beta2},
                        {"epsilon", optimizer.epsilon},
                        {"clip", settings.clip},
                        {"seed", static_cast<std::int64_t>(settings.seed)}};
}

/// The same with those of the data, as they are and where they are unset.
struct SettingsJson {
    Json given, unset;
};

SettingsJson settings_json_of(const Training& training) {
    Json::Object given, unset;
    for (DataOption& option : training.data.options()) {
        given.emplace_back(option.name, std::move(option.value));
        unset.emplace_back(option.name, std::move(option.unset));
    }
    for (auto& setting : settings_by_name(training.settings)) given.push_back(std::move(setting));
    for (auto& setting : settings_by_name({})) unset.push_back(std::move(setting));
    return {std::move(given), std::move(unset)};
}

std::string hexadecimal(std::uint64_t number) {
    char digits[16];
    return {digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr};
}

Json data_json(const TrainingData& data) {
    return Json::Object{{data.examples(), static_cast<std::int64_t>(data.count())},
                        {"fingerprint", hexadecimal(data.fingerprint())}};
}

/// Of the parameters that are not saved, since they stay as they are.
std::string fingerprint_of_base(Parameters& parameters) {
    std::uint64_t fingerprint = 0;
    for (std::size_t i = 0; i < parameters.count(); ++i)
        if (parameters.model().parameters[i].frozen)
            fingerprint = fingerprint_of_values(parameters.values(i), fingerprint);
    return hexadecimal(fingerprint);
}

/// UserError where the weights beside a checkpoint are not those of before. Some name none.
void verify_base(const SafetensorsFile& file, Training& training) {
    const auto found = file.metadata().find(kBaseKey);
    if (!training.saved.only_trained || found == file.metadata().end()) return;
    if (found->second == fingerprint_of_base(training.parameters)) return;
    throw UserError(
        "'{}' was trained beside other weights than those of --init; --resume needs the same",
        {file.path()});
}

Json position_json(const TrainingPosition& position) {
    return Json::Object{{"epoch", static_cast<std::int64_t>(position.epoch)},
                        {"step_in_epoch", static_cast<std::int64_t>(position.step_in_epoch)},
                        {"loss_sum", position.loss_sum},
                        {"tokens", position.tokens},
                        {"best_epoch", static_cast<std::int64_t>(position.best_epoch)},
                        {"best_loss", position.best_loss}};
}

Json parse_key(const SafetensorsFile& file, const std::string& key) {
    if (!file.metadata().contains(key)) {
        throw UserError("'" + file.path() + "' is no checkpoint: it has no '" + key +
                        "' in its __metadata__");
    }
    try {
        return parse_json(file.metadata_at(key));
    } catch (const UserError& error) {
        throw UserError("'" + file.path() + "': " + key + " in its __metadata__: " + error.what());
    }
}

const Json& member(const SafetensorsFile& file, const Json& object, const std::string& key) {
    const Json* value = object.find(key);
    if (!value || !value->is_number()) {
        throw UserError("'" + file.path() + "': its __metadata__ has no number '" + key + "'");
    }
    return *value;
}

std::string text_of(const Json& value) {
    if (value.is_integer()) return std::to_string(value.integer());
    if (!value.is_number()) return value.string();
    char text[32];
    std::snprintf(text, sizeof text, "%.15g", value.number());
    return text;
}

void verify_training_settings(const SafetensorsFile& file, const Training& training) {
    const Json stored = parse_key(file, "training");
    if (!stored.is_object())
        throw UserError("'" + file.path() + "': training in its __metadata__ is no JSON object");
    const auto [mine, unset] = settings_json_of(training);
    for (const auto& [name, value] : mine.object()) {
        const Json* other = stored.find(name);
        if (!other) other = unset.find(name);  // a fovea wrote it that did not have this option
        if (other->is_number() != value.is_number())
            throw UserError("'" + file.path() + "': the training option '" + name +
                            "' in its __metadata__ is '" + other->text() + "'");
        if (*other == value) continue;
        const bool is_close = text_of(*other) == text_of(value);
        throw UserError("'" + file.path() + "' was made with --" + name + " " +
                        (is_close ? other->text() : text_of(*other)) + ", but this run has --" +
                        name + " " + (is_close ? value.text() : text_of(value)) +
                        "; --resume needs the same");
    }
}

void verify_data(const SafetensorsFile& file, const TrainingData& data) {
    const Json stored = parse_key(file, "data");
    const Json mine = data_json(data);
    if (stored == mine) return;
    const std::string there = member(file, stored, data.examples()).text();
    const std::string here = mine.find(data.examples())->text();
    throw UserError("'{}' was trained on {} {}, the data has {}{}; --resume needs the same data",
                    {file.path(), there, data.examples(), here, there == here ? " others" : ""});
}

TrainingPosition read_position(const SafetensorsFile& file, std::uint64_t step) {
    const Json stored = parse_key(file, "position");
    TrainingPosition position;
    position.step = step;
    position.epoch = static_cast<std::uint64_t>(member(file, stored, "epoch").integer());
    position.step_in_epoch =
        static_cast<std::uint64_t>(member(file, stored, "step_in_epoch").integer());
    position.best_epoch = static_cast<std::uint64_t>(member(file, stored, "best_epoch").integer());
    position.best_loss = member(file, stored, "best_loss").number();
    position.loss_sum = member(file, stored, "loss_sum").number();
    position.tokens = member(file, stored, "tokens").integer();
    return position;
}

void load_state(const SafetensorsFile& file, const Parameters& parameters,
                const OptimizerState& state) {
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        if (parameters.model().parameters[i].frozen) continue;
        const std::string name = tensor_name(state, parameters.model().parameters[i]);
        const TensorView* tensor = file.find(name);
        if (!tensor) {
            throw UserError("'" + file.path() + "' is no checkpoint: it has no tensor '" + name +
                            "'");
        }
        copy_tensor(file, *tensor, "optimizer state", DType::f32, parameters.shape(i),
                    state.flat.data() + parameters.offset(i));
    }
}

}  // namespace

std::vector<TensorView> saved_tensors(Parameters& parameters, const SavedParameters& saved) {
    std::vector<TensorView> tensors;
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const TensorSpec& spec = parameters.model().parameters[i];
        if (spec.frozen && saved.only_trained) continue;
        tensors.push_back(
            f32_tensor(saved.prefix + spec.name, parameters.shape(i), parameters.values(i)));
    }
    return tensors;
}

Metadata weights_metadata(const Training& training) {
    Metadata metadata = weights_metadata(training.parameters.model(), training.position.step,
                                         training.settings.seed);
    metadata.merge(training.data.metadata());
    return metadata;
}

void save_checkpoint(const std::string& path, Training& training) {
    Parameters& parameters = training.parameters;
    std::vector<TensorView> tensors = saved_tensors(parameters, training.saved);
    for (const OptimizerState& state : training.optimizer.state()) {
        for (std::size_t i = 0; i < parameters.count(); ++i) {
            if (parameters.model().parameters[i].frozen) continue;
            tensors.push_back(f32_tensor(
                tensor_name(state, parameters.model().parameters[i]), parameters.shape(i),
                state.flat.subspan(parameters.offset(i), parameters.values(i).size())));
        }
    }
    Metadata metadata = weights_metadata(training);
    metadata["training"] = settings_json_of(training).given.text();
    metadata["data"] = data_json(training.data).text();
    metadata["position"] = position_json(training.position).text();
    if (training.saved.only_trained) {
        if (training.base.empty()) training.base = fingerprint_of_base(parameters);
        metadata[kBaseKey] = training.base;
    }
    write_safetensors(path, std::move(tensors), metadata);
}

void load_checkpoint(const std::string& path, Training& training) {
    SafetensorsFile file = read_safetensors(path);
    remove_prefix(file, training.saved.prefix);
    verify_weights(file, training.parameters.model(), ReadFor::training,
                   training.data.open_settings());
    const std::uint64_t step = count_at(file, "step");
    training.data.verify_kind(file);
    verify_training_settings(file, training);
    training.data.verify_tokens(file);
    verify_data(file, training.data);
    verify_base(file, training);
    training.position = read_position(file, step);
    const bool only_trained = training.saved.only_trained;
    load_some_parameters(
        training.parameters, file,
        [&](const TensorSpec& spec) { return !(spec.frozen && only_trained); }, kOptimizerPrefix);
    for (const OptimizerState& state : training.optimizer.state())
        load_state(file, training.parameters, state);
    verify_finite(training.parameters, path);
    if (const std::string name = first_not_finite(training.optimizer); !name.empty())
        throw UserError("'" + path + "' holds an optimizer's state '" + name +
                        "' that is not finite: the training diverged; train again with a smaller "
                        "--lr");
    training.optimizer.set_step(step);
}

}  // namespace fovea::runtime
