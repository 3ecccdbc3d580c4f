// Binding of dims, and the sentences for tensors that do not agree.
#include "bind_dims.h"

#include <algorithm>

#include "../error.h"
#include "../load_parameters.h"
#include "../memory/shape.h"
#include "../options.h"

namespace fovea::runtime {

DimBinder::DimBinder(const Model& model) : model_(&model) {}

void DimBinder::bind(int dim, std::int64_t value, const std::string& what) {
    const auto [place, is_new] = bindings_.try_emplace(dim, Binding{value, what});
    if (is_new || place->second.value == value) return;
    throw UserError("'{}' is {} in {}, but {} in {}",
                    {model_->dims[static_cast<std::size_t>(dim)], place->second.value,
                     place->second.tensor, value, what});
}

void DimBinder::add(const TensorSpec& spec, std::span<const std::int64_t> shape,
                    const std::string& what) {
    bool fits = shape.size() == spec.shape.size();
    for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
        if (spec.shape[axis].is_constant()) fits = spec.shape[axis].value({}) == shape[axis];
    }
    if (!fits) {
        throw UserError("{} has shape {}, expected {}",
                        {what, shape_text(shape), shape_text(spec.shape, model_->dims)});
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const int dim = spec.shape[axis].as_dim();
        if (dim >= 0) bind(dim, shape[axis], what);
    }
    tensors_.push_back({&spec, {shape.begin(), shape.end()}, what});
}

std::vector<std::int64_t> DimBinder::values() const {
    std::vector<std::int64_t> values(model_->dims.size(), 0);
    for (const auto& [dim, binding] : bindings_) {
        values[static_cast<std::size_t>(dim)] = binding.value;
    }
    return values;
}

std::optional<int> DimBinder::only_unknown(const Extent& extent) const {
    std::optional<int> unknown;
    for (const Extent::Term& term : extent.terms()) {
        int times = 0;
        for (int dim : term.dims) {
            if (bindings_.contains(dim)) continue;
            if (unknown && *unknown != dim) return {};
            unknown = dim;
            ++times;
        }
        if (times > 1) return {};
    }
    return unknown;
}

bool DimBinder::solve(const Tensor& tensor, std::size_t axis) {
    const Extent& extent = tensor.spec->shape[axis];
    const std::optional<int> unknown = only_unknown(extent);
    if (!unknown) return false;
    std::vector<std::int64_t> dims = values();
    const auto size_with = [&](std::int64_t value) {
        dims[static_cast<std::size_t>(*unknown)] = value;
        return extent.value(dims);
    };
    const std::int64_t rest = size_with(0), factor = size_with(1) - rest;
    const std::int64_t left = tensor.shape[axis] - rest;
    if (factor == 0) return false;  // any size will do
    if (left % factor != 0 || left / factor < 0) {
        throw UserError(
            "{} has shape {}, expected {}: no size '{}' makes {} {}",
            {tensor.what, shape_text(tensor.shape), shape_text(tensor.spec->shape, model_->dims),
             model_->dims[static_cast<std::size_t>(*unknown)], extent.text(model_->dims),
             tensor.shape[axis]});
    }
    bind(*unknown, left / factor, tensor.what);
    return true;
}

void DimBinder::solve_all() {
    for (bool found = true; found;) {
        found = false;
        for (const Tensor& tensor : tensors_) {
            for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
                found = solve(tensor, axis) || found;
        }
    }
}

void DimBinder::verify(const Tensor& tensor) const {
    const std::vector<std::int64_t> values = this->values();
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        const Extent& extent = tensor.spec->shape[axis];
        bool is_bound = true;
        for (const Extent::Term& term : extent.terms()) {
            for (int dim : term.dims) is_bound = is_bound && bindings_.contains(dim);
        }
        if (!is_bound || extent.value(values) == tensor.shape[axis]) continue;
        throw UserError(
            "{} has shape {}, expected {} where {} is {}",
            {tensor.what, shape_text(tensor.shape), shape_text(tensor.spec->shape, model_->dims),
             extent.text(model_->dims), extent.value(values)});
    }
}

DimValues DimBinder::finish() {
    solve_all();
    for (const Tensor& tensor : tensors_) verify(tensor);
    DimValues dims;
    for (const auto& [dim, binding] : bindings_) {
        dims[model_->dims[static_cast<std::size_t>(dim)]] = binding.value;
    }
    return dims;
}

namespace {

/// That of a parameter: rows of whole numbers have fewer bytes in a file.
std::vector<std::int64_t> shape_of(const TensorSpec& spec, const TensorView& tensor) {
    std::vector<std::int64_t> shape = tensor.shape;
    if (spec.storage && !shape.empty()) shape.back() = spec.shape.back().value({});
    return shape;
}

}  // namespace

DimValues bind_dims(const Model& model, const Program& program, const SafetensorsFile& inputs,
                    const SafetensorsFile* weights) {
    DimBinder binder(model);
    for (const TensorSpec& spec : program.inputs) {
        const TensorView* tensor = inputs.find(spec.name);
        if (!tensor) continue;
        binder.add(spec, tensor->shape, "input '" + spec.name + "' in '" + inputs.path() + "'");
    }
    for (std::size_t i = 0; weights && i < model.parameters.size(); ++i) {
        const TensorView* tensor = find_parameter(model, i, *weights);
        if (!tensor) continue;
        binder.add(model.parameters[i], shape_of(model.parameters[i], *tensor),
                   "parameter '" + tensor->name + "' in '" + weights->path() + "'");
    }
    return binder.finish();
}

void set_dim(const Model& model, const std::string& text, DimValues& dims) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto value =
        equals == std::string::npos ? std::nullopt : parse_integer(text.substr(equals + 1));
    if (!value || *value < 1) {
        throw UserError("'{}' should be NAME=N with a whole number N from 1", {text});
    }
    for (const std::string& dim : model.dims) {
        if (dim != name) continue;
        dims[name] = *value;
        return;
    }
    throw UserError("{} has no dim '{}'{}", {model.name, name, suggestion(name, model.dims)});
}

namespace {

bool has_open_sizes(const Model& model) {
    const auto is_open = [](const Extent& extent) { return !extent.is_constant(); };
    return std::any_of(model.parameters.begin(), model.parameters.end(),
                       [&](const TensorSpec& spec) {
                           return std::any_of(spec.shape.begin(), spec.shape.end(), is_open);
                       });
}

}  // namespace

DimValues dims_of_parameters(const Model& model, const SafetensorsFile& file) {
    if (!has_open_sizes(model)) return {};
    DimBinder binder(model);
    for (std::size_t i = 0; i < model.parameters.size(); ++i)
        if (const TensorView* tensor = find_parameter(model, i, file))
            binder.add(model.parameters[i], shape_of(model.parameters[i], *tensor),
                       "'" + tensor->name + "' in '" + file.path() + "'");
    return binder.finish();
}

const OpenSizes kOpenSizes = {dims_of_parameters};

}  // namespace fovea::runtime
