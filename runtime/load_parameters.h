// Parameters from a safetensors file, by name.
#pragma once

#include <functional>
#include <string_view>

#include "files/fit_names.h"
#include "parameters.h"
#include "safetensors.h"

namespace fovea::runtime {

/// Copies every parameter of the model from the file. A parameter is also found under the names
/// that `Model::aliases` gives it. UserError when one is missing (the first is named, and how many
/// there are), has another shape or dtype, or when two names of one parameter hold different
/// values. Tensors that the model lacks give one warning on standard error that names up to three,
/// except those that end in `.pos_table` or `.num_batches_tracked`, or start with `ignored_prefix`
/// (when it is not empty).
void load_parameters(Parameters& parameters, const SafetensorsFile& file,
                     std::string_view ignored_prefix = {});

/// The same of the parameters that are `wanted` alone; the others stay as they are.
void load_some_parameters(Parameters& parameters, const SafetensorsFile& file,
                          const std::function<bool(const TensorSpec&)>& wanted,
                          std::string_view ignored_prefix = {});

/// What `fit_names` takes.
std::vector<ParameterNames> names_of_parameters(const Model& model);

/// The tensors of all parameters, for `write_safetensors`; views into `parameters`.
std::vector<TensorView> parameter_tensors(Parameters& parameters);

/// The tensor that holds parameter i, under its own name or an alias; null when there is none.
const TensorView* find_parameter(const Model& model, std::size_t i, const SafetensorsFile& file);

/// One warning on standard error: the file has tensors that `model` does not use. Names up to
/// three; does nothing when there are none.
void warn_unused(const SafetensorsFile& file, const std::string& model,
                 const std::vector<std::string>& names);

}  // namespace fovea::runtime
