#include "adapter.h"

#include <algorithm>

#include "../error.h"
#include "../trainer/weights_header.h"
#include "adapter_config.h"

namespace fovea::runtime {

namespace {

bool is_of_pair(const TensorSpec& spec) {
    return !spec.frozen &&
           (spec.name.ends_with(".lora_A.weight") || spec.name.ends_with(".lora_B.weight"));
}

SafetensorsFile read_adapter(const Model& model, const std::string& path) {
    verify_takes_pairs(model);
    const std::string own = adapter_file(path);
    verify_adapter_config(model, own);
    SafetensorsFile file = read_safetensors(own);
    remove_prefix(file, kAdapterPrefix);
    static constexpr const char* kOpen[] = {"dtype"};
    if (file.metadata().contains("settings"))
        verify_weights(file, model, ReadFor::inference, kOpen);
    return file;
}

/// A parameter of the weights in an adapter, as PEFT saves an embedding or a head that was trained
/// as a whole; null where it has none.
const TensorView* find_whole(const Model& model, const TensorSpec& spec,
                             const SafetensorsFile& file) {
    return is_of_pair(spec)
               ? nullptr
               : find_parameter(model, static_cast<std::size_t>(&spec - model.parameters.data()),
                                file);
}

}  // namespace

bool has_pairs(const Model& model) {
    // In a model that has such names itself other parameters are trained, too.
    return std::ranges::any_of(model.parameters, is_of_pair) &&
           std::ranges::all_of(model.parameters, [](const TensorSpec& spec) {
               return spec.frozen || is_of_pair(spec);
           });
}

std::vector<ParameterNames> names_of_weights(const Model& model) {
    std::vector<ParameterNames> names = names_of_parameters(model);
    if (!has_pairs(model)) return names;
    std::vector<ParameterNames> kept;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!is_of_pair(model.parameters[i])) kept.push_back(std::move(names[i]));
    return kept;
}

namespace {

/// All but pairs; in a model without them, all.
IsWanted is_weight(const Model& model) {
    const bool all = !has_pairs(model);
    return [all](const TensorSpec& spec) { return all || !is_of_pair(spec); };
}

}  // namespace

void load_weights(Parameters& parameters, const SafetensorsFile& file) {
    load_some_parameters(parameters, file, is_weight(parameters.model()), kOptimizerPrefix);
}

void verify_takes_pairs(const Model& model) {
    if (!has_pairs(model))
        throw UserError("--adapter is for programs that were built with --lora: this {} was not",
                        {model.name});
}

void load_pairs(Parameters& parameters, const std::string& path) {
    const SafetensorsFile file = read_adapter(parameters.model(), path);
    const auto is_there = [&](const TensorSpec& spec) {
        return is_of_pair(spec) || find_whole(parameters.model(), spec, file);
    };
    load_some_parameters(parameters, file, is_there, kOptimizerPrefix);
}

void verify_has_pairs_alone(const Model& model, const std::string& path) {
    const SafetensorsFile file = read_adapter(model, path);
    for (const TensorSpec& spec : model.parameters)
        if (const TensorView* whole = find_whole(model, spec, file))
            throw UserError(
                "'{}' has all of '{}', and a training writes pairs alone: merge it into the "
                "weights, and train beside these",
                {file.path(), whole->name});
}

std::optional<TextTokens> tokens_of_adapter(const std::string& path) {
    return TextTokens::of_weights(read_safetensors(adapter_file(path)));
}

OptionSpec adapter_option() {
    return {.name = "adapter",
            .kind = OptionKind::text,
            .value_name = "FILE|DIR",
            .help = "what a program built with --lora has trained beside these weights"};
}

void load_adapted(Parameters& parameters, const SafetensorsFile& weights, const Options& options) {
    load_weights(parameters, weights);
    if (options.given("adapter")) load_pairs(parameters, options.text("adapter"));
}

void load_adapted(Parameters& parameters, const SafetensorsFile& weights, const Options& options,
                  WeightsInFile& in_file) {
    if (options.given("adapter")) return load_adapted(parameters, weights, options);
    load_some_parameters(parameters, weights, is_weight(parameters.model()), kOptimizerPrefix,
                         [&](std::size_t i, const TensorView& tensor) { in_file.take(i, tensor); });
}

}  // namespace fovea::runtime
