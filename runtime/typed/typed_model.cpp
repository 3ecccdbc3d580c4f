// Reading, drawing and looking at the parameters of a generated header's model.
#include "typed_model.h"

#include <algorithm>

#include "../checkpoint/read_checkpoint.h"
#include "../error.h"
#include "../files/weights_format.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../runner/bind_dims.h"
#include "../weights/storage_name.h"
#include "../weights/weight_tensors.h"
#include "../weights/weights_in_file.h"

namespace fovea::runtime {
TypedModel::TypedModel(const runtime::Model& model, const std::string& file) {
    SafetensorsFile tensors = read_checkpoint(model, file);
    fit_names(tensors, names_of_parameters(model));
    verify_weights_format(tensors);
    const DimValues sizes =
        model.open_sizes ? model.open_sizes->in_file(model, tensors) : DimValues();
    if (model.file_weights) parameters_ = model.file_weights->load(model, sizes, tensors);
    if (parameters_) return;
    parameters_ = std::make_shared<Parameters>(model, sizes);
    load_parameters(*parameters_, tensors);
}

TypedModel::TypedModel(const runtime::Model& model, const DimValues& sizes, std::uint64_t seed)
    : parameters_(std::make_shared<Parameters>(model, sizes)) {
    parameters_->initialize(seed);
}

std::int64_t TypedModel::parameter_count() const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < parameters_->count(); ++i)
        count += element_count(parameters_->shape(i));
    return count;
}

std::vector<std::string> TypedModel::parameter_names() const {
    std::vector<std::string> names;
    for (const TensorSpec& spec : parameters_->model().parameters) names.push_back(spec.name);
    return names;
}

std::size_t TypedModel::find(std::string_view name) const {
    const int number = parameters_->find(std::string(name));
    if (number < 0)
        throw UserError("{} has no parameter '{}'", {parameters_->model().name, std::string(name)});
    return static_cast<std::size_t>(number);
}

std::span<const float> TypedModel::parameter(std::string_view name) const {
    const std::size_t i = find(name);
    if (const WeightStorage storage = parameters_->model().parameters[i].storage)
        throw UserError("parameter '{}' lies as {}, not as floats: save the model to read it",
                        {std::string(name), long_name(storage)});
    return parameters_->values(i);
}

const std::vector<std::int64_t>& TypedModel::parameter_shape(std::string_view name) const {
    return parameters_->shape(find(name));
}

void TypedModel::set_parameter(std::string_view name, std::span<const float> values) {
    const std::size_t i = find(name);
    const std::int64_t count = element_count(parameters_->shape(i));
    if (count != static_cast<std::int64_t>(values.size()))
        throw UserError("parameter '{}' has {} values, and {} are given for it",
                        {std::string(name), count, values.size()});
    parameters_->set_values(i, values);
    parameters_->mark_changed();
}

void TypedModel::save(const std::string& file) const {
    write_safetensors(file, tensors_to_write(*parameters_).tensors,
                      metadata_to_write(parameters_->model()));
}

}  // namespace fovea::runtime
