// Parameters from a safetensors file, by name.
#pragma once

#include <functional>
#include <string_view>

#include "files/fit_names.h"
#include "parameters.h"
#include "safetensors.h"

namespace fovea::runtime {

/// Copies every parameter of the model from the file. A parameter is also found under the names
/// that `Model::aliases` gives it. UserError when the weights are not stored as the model
/// takes them, when one is missing (the first is named, and how many there are), has another shape
/// or dtype, or when two names of one parameter hold different
/// values. Tensors that the model lacks give one warning on standard error that names up to three,
/// except those that end in `.pos_table` or `.num_batches_tracked`, or start with `ignored_prefix`
/// (when it is not empty).
void load_parameters(Parameters& parameters, const SafetensorsFile& file,
                     std::string_view ignored_prefix = {});

/// The same of the parameters that are `wanted` alone; the others stay as they are.
using IsWanted = std::function<bool(const TensorSpec&)>;
void load_some_parameters(Parameters& parameters, const SafetensorsFile& file,
                          const IsWanted& wanted, std::string_view ignored_prefix = {});

/// The same, where `take` takes the parameters of floats from their tensors.
using CopyParameter = std::function<void(std::size_t i, const TensorView& tensor)>;
void load_some_parameters(Parameters& parameters, const SafetensorsFile& file,
                          const IsWanted& wanted, std::string_view ignored_prefix,
                          const CopyParameter& take);

/// The same with `copy` for each parameter and its tensor, whose values are then not looked at: of
/// any storage.
void load_parameters(Parameters& parameters, const SafetensorsFile& file,
                     std::string_view ignored_prefix, const CopyParameter& copy);

/// UserError where a tensor is not of this shape, and of F32, BF16 or F16.
void verify_floats(const SafetensorsFile& file, const TensorView& tensor,
                   std::span<const std::int64_t> shape);
/// Writes the values from `first` on, as many as there is room for, of a tensor that is right;
/// those of 16 bits are widened.
void copy_part(const TensorView& tensor, std::size_t first, std::span<float> values);
/// Copies all values of a tensor; UserError as `verify_floats` has them.
void copy_floats(const SafetensorsFile& file, const TensorView& tensor,
                 std::span<const std::int64_t> shape, std::span<float> values);

/// What `fit_names` takes.
std::vector<ParameterNames> names_of_parameters(const Model& model);

/// The tensors of all parameters, of floats, for `write_safetensors`; views into `parameters`.
std::vector<TensorView> parameter_tensors(Parameters& parameters);

/// The tensor that holds parameter i, under its own name or an alias; null when there is none.
const TensorView* find_parameter(const Model& model, std::size_t i, const SafetensorsFile& file);

/// Whether files have tensors of such a name beside parameters, which no model reads.
bool is_never_read(std::string_view name);

/// One warning on standard error where the file has tensors that `model` does not use: names up to
/// three.
using IsUsed = std::function<bool(const std::string& name)>;
void warn_unused(const SafetensorsFile& file, const std::string& model, const IsUsed& is_used);

}  // namespace fovea::runtime
