// Offsets of parameters in their flat array, and their initial values.
#include "parameters.h"

#include <algorithm>
#include <cmath>

#include "error.h"
#include "memory/shape.h"
#include "memory/shared_buffers.h"
#include "memory/sort_plain.h"
#include "training/random_stream.h"
#include "weights/stored_weights.h"

namespace fovea::runtime {
namespace {

/// Collects the value of every dim that `shape` mentions.
void collect_dims(const Model& model, const TensorSpec& spec, const DimValues& given,
                  DimValues& used) {
    for (const Extent& extent : spec.shape) {
        for (const Extent::Term& term : extent.terms()) {
            for (int dim : term.dims) {
                const std::string& name = model.dims[static_cast<std::size_t>(dim)];
                const auto found = given.find(name);
                if (found == given.end()) {
                    throw UserError("the size of '{}' is not known, which parameter '{}' {} needs",
                                    {name, spec.name, shape_text(spec.shape, model.dims)});
                }
                used[name] = found->second;
            }
        }
    }
}

/// Glorot and Bengio 2010 with PyTorch's fans: [out, in, …], what follows multiplies both.
double xavier_bound(const std::vector<std::int64_t>& shape) {
    double fan_out = shape.empty() ? 1 : static_cast<double>(shape[0]);
    double fan_in = shape.size() < 2 ? 1 : static_cast<double>(shape[1]);
    for (std::size_t axis = 2; axis < shape.size(); ++axis) {
        fan_in *= static_cast<double>(shape[axis]);
        fan_out *= static_cast<double>(shape[axis]);
    }
    return std::sqrt(6.0 / (fan_in + fan_out));
}

void draw(const TensorSpec& spec, const std::vector<std::int64_t>& shape,
          const RandomStream& stream, std::span<float> values) {
    switch (spec.initial) {
        case Initial::zeros: std::fill(values.begin(), values.end(), 0.0F); break;
        case Initial::ones: std::fill(values.begin(), values.end(), 1.0F); break;
        case Initial::xavier_uniform: stream.fill_uniform(values, xavier_bound(shape)); break;
        case Initial::normal: stream.fill_normal(values); break;
        case Initial::linear_bias: {
            if (spec.fan_in <= 0)
                throw UserError(
                    "'{}' is drawn by the width of what its layer takes, which the model leaves "
                    "open: give it a number, or load weights",
                    {spec.name});
            stream.fill_uniform(values, 1.0 / std::sqrt(static_cast<double>(spec.fan_in)));
            break;
        }
    }
    if (spec.zero_row >= 0 && !shape.empty() && spec.zero_row < shape[0]) {
        const std::size_t width = values.size() / static_cast<std::size_t>(shape[0]);
        const auto row = values.subspan(static_cast<std::size_t>(spec.zero_row) * width, width);
        std::fill(row.begin(), row.end(), 0.0F);
    }
}

std::size_t rounded_up(std::size_t count, std::size_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

Parameters::Parameters(const Model& model, const DimValues& dims) : model_(&model) {
    for (const TensorSpec& spec : model.parameters) collect_dims(model, spec, dims, dims_);
    std::vector<std::int64_t> values;
    for (const std::string& name : model.dims) {
        const auto found = dims_.find(name);
        values.push_back(found == dims_.end() ? 0 : found->second);
    }
    for (const TensorSpec& spec : model.parameters) {
        if (spec.dtype != DType::f32) throw InternalError("parameter '{}' is not f32", {spec.name});
        by_name_.push_back(&spec);
        shapes_.push_back(shape_values(spec.shape, values));
    }
    sort_plain(by_name_,
               [](const TensorSpec* a, const TensorSpec* b) { return a->name < b->name; });
    offsets_.resize(shapes_.size());
    for (std::size_t i = 0; i < count(); ++i)
        if (!model.parameters[i].frozen) place(i);
    trained_size_ = flat_size_;
    for (std::size_t i = 0; i < count(); ++i)
        if (model.parameters[i].frozen) place(i);
    values_.reserve(flat_size_ * sizeof(float));
    if (model.shared_buffers) shared_buffers_ = model.shared_buffers->make(*this);
}

/// Places parameter `i` behind those that are placed.
void Parameters::place(std::size_t i) {
    const bool is_first_frozen = model_->parameters[i].frozen && flat_size_ == trained_size_;
    if (is_first_frozen) trained_size_ = flat_size_ = rounded_up(flat_size_, kChunk);
    offsets_[i] = flat_size_;
    const auto count =
        static_cast<std::size_t>(storage(i) ? layout(i).words() : element_count(shapes_[i]));
    const std::size_t rounded = rounded_up(count, kAlignment / sizeof(float));
    if (__builtin_add_overflow(flat_size_, rounded, &flat_size_) ||
        flat_size_ > PTRDIFF_MAX / sizeof(float)) {
        throw UserError("the parameters of {} have too many elements", {model_->name});
    }
}

WeightLayout Parameters::layout(std::size_t i) const {
    return {storage(i), shapes_[i].at(0), shapes_[i].at(1)};
}

std::span<float> Parameters::flat() {
    if (!elsewhere_.empty()) throw InternalError("the parameters are no flat array");
    fetch();
    return {values_.as<float>(), flat_size_};
}

void Parameters::lie_at(std::size_t i, float* address) {
    elsewhere_.resize(count());
    elsewhere_[i] = address;
}

std::span<float> Parameters::block(std::size_t i, std::int64_t count) {
    fetch();
    if (outside_) outside_->keep(i);
    return {address(i), static_cast<std::size_t>(count)};
}

std::span<std::uint32_t> Parameters::words(std::size_t i) {
    const auto all = block(i, layout(i).words());
    return {reinterpret_cast<std::uint32_t*>(all.data()), all.size()};
}

std::vector<float> Parameters::floats(std::size_t i) {
    if (storage(i)) return stored_weights(*model_).floats(layout(i), words(i));
    const std::span<const float> own = values(i);
    return {own.begin(), own.end()};
}

void Parameters::set_values(std::size_t i, std::span<const float> from) {
    const std::string& name = model_->parameters[i].name;
    if (static_cast<std::int64_t>(from.size()) != element_count(shapes_[i]))
        throw InternalError("'{}' is given {} values", {name, from.size()});
    if (storage(i)) stored_weights(*model_).set(layout(i), from, name, words(i));
    else std::copy(from.begin(), from.end(), values(i).begin());
}

std::span<float> Parameters::values(std::size_t i) {
    if (storage(i)) throw InternalError("'{}' lies as whole numbers", {model_->parameters[i].name});
    return block(i, element_count(shapes_[i]));
}

int Parameters::find(const std::string& name) const {
    const auto found = std::lower_bound(
        by_name_.begin(), by_name_.end(), name,
        [](const TensorSpec* spec, const std::string& wanted) { return spec->name < wanted; });
    if (found == by_name_.end() || (*found)->name != name) return -1;
    return static_cast<int>(*found - model_->parameters.data());
}

void Parameters::initialize(std::uint64_t seed) {
    for (std::size_t rank = 0; rank < count(); ++rank) {
        const RandomStream stream(seed, static_cast<std::uint32_t>(rank));
        const auto i = static_cast<std::size_t>(by_name_[rank] - model_->parameters.data());
        std::vector<float> drawn(
            static_cast<std::size_t>(storage(i) ? element_count(shapes_[i]) : 0));
        draw(model_->parameters[i], shapes_[i], stream, storage(i) ? drawn : values(i));
        if (storage(i)) set_values(i, drawn);
    }
    mark_changed();
}

}  // namespace fovea::runtime
