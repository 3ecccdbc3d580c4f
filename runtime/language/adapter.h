// Pairs of small matrices beside the weights of a model (LoRA, Hu et al. 2021), in files as PEFT
// names them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../load_parameters.h"
#include "../options.h"
#include "../weights/weights_in_file.h"
#include "text_tokens.h"

namespace fovea::runtime {

/// What stands before the names of a model's parameters in the file of an adapter.
inline constexpr const char* kAdapterPrefix = "base_model.model.";

/// Whether a model was built with pairs: `fovea build --lora`.
bool has_pairs(const Model& model);

/// `names_of_parameters` without those of pairs.
std::vector<ParameterNames> names_of_weights(const Model& model);

/// Loads all parameters but pairs. A checkpoint of a training serves as well.
void load_weights(Parameters& parameters, const SafetensorsFile& file);
/// UserError where `--adapter` is given to a model without pairs.
void verify_takes_pairs(const Model& model);
/// Loads the pairs of the adapter at `path`, and the parameters that it has whole, in place of
/// those of the weights. UserError where it is not right, or where the model has no pairs.
void load_pairs(Parameters& parameters, const std::string& path);

/// UserError where the adapter at `path` has parameters whole, or is not right.
void verify_has_pairs_alone(const Model& model, const std::string& path);

/// What the tokens are that the adapter at `path` was trained on, where its file says so.
std::optional<TextTokens> tokens_of_adapter(const std::string& path);

/// `--adapter`.
OptionSpec adapter_option();
/// Loads weights, and the pairs of `--adapter`; without it pairs change nothing.
void load_adapted(Parameters& parameters, const SafetensorsFile& weights, const Options& options);
/// The same for a command that changes no weights: without `--adapter` they stay where `in_file`
/// takes them.
void load_adapted(Parameters& parameters, const SafetensorsFile& weights, const Options& options,
                  WeightsInFile& in_file);

}  // namespace fovea::runtime
