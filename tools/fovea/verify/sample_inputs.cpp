// Sizes that are multiples of nothing, and values from counted random streams.
#include "tools/fovea/verify/sample_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/training/random_stream.h"
#include "tools/fovea/fit_dims.h"

namespace fovea::tool {

namespace {

using runtime::RandomStream;

SampleDims dims_with(const plan::Model& model, std::int64_t batch,
                     const std::vector<std::int64_t>& lengths) {
    SampleDims dims;
    std::size_t next = 0;
    std::int64_t vocabulary = 19;
    for (const std::string& name : model.dims) {
        if (name.find("batch") != name.npos) {
            dims[name] = batch;
        } else if (name.find("vocab") != name.npos) {
            dims[name] = vocabulary;
            vocabulary += 4;
        } else {
            dims[name] = lengths[next++ % lengths.size()];
        }
    }
    return dims;
}

/// Length `i` of `count`, from 0 to `limit`. A lone row is not empty: nothing would be checked.
std::int64_t draw_length(const Sample& sample, const RandomStream& random, std::size_t i,
                         std::size_t count, std::int64_t limit) {
    const bool is_alone = count == 1 && sample.lengths != Sample::Lengths::full;
    switch (is_alone ? Sample::Lengths::positive : sample.lengths) {
        case Sample::Lengths::full: return limit;
        case Sample::Lengths::one_is_zero:
            if (i == 0) return 0;
            [[fallthrough]];
        case Sample::Lengths::positive:
            return std::int64_t(1 + random.below(i, std::uint64_t(limit)));
        case Sample::Lengths::any: break;
    }
    return std::int64_t(random.below(i, std::uint64_t(limit) + 1));
}

/// Integers of which nothing is known stay inside every symbolic axis.
std::int64_t smallest_size(const SampleDims& dims) {
    std::int64_t smallest = 1 << 20;
    for (const auto& [name, size] : dims) smallest = std::min(smallest, size);
    return std::min<std::int64_t>(smallest, 4);
}

double draw(const plan::Tensor& tensor, const Sample& sample, const RandomStream& random,
            std::size_t i, std::size_t count) {
    if (tensor.dtype == DType::boolean) return double(random.below(i, 2));
    if (tensor.dtype == DType::i32) {
        const std::int64_t largest = plan::largest_value(
            tensor, [&](const Dim& dim) { return value_of(dim, sample.dims); },
            smallest_size(sample.dims) - 1);
        if (plan::holds_lengths(tensor))
            return double(draw_length(sample, random, i, count, largest));
        return double(random.below(i, std::uint64_t(largest) + 1));
    }
    double value = random.normal(i);
    if (tensor.role == plan::Role::parameter) {
        bool matrix = tensor.shape.size() > 1 && tensor.initial != plan::Initial::ones;
        double width = matrix ? double(value_of(tensor.shape.back(), sample.dims)) : 100;
        value /= std::sqrt(width);
        if (tensor.initial == plan::Initial::ones) value += 1;
    }
    return format_of(tensor.dtype).nearest(value);
}

}  // namespace

std::string Sample::text() const { return text_of(dims); }

std::vector<Sample> samples_for(const CompiledModel& compiled,
                                const std::vector<std::string>& given) {
    using Lengths = Sample::Lengths;
    const plan::Model& model = compiled.plan;
    std::vector<Sample> samples = {{dims_with(model, 1, {1}), Lengths::full, 1},
                                   {dims_with(model, 3, {7, 5}), Lengths::positive, 2},
                                   {dims_with(model, 2, {17, 33}), Lengths::positive, 3},
                                   {dims_with(model, 3, {4, 6}), Lengths::one_is_zero, 4}};
    const RandomStream random(5, 0);
    auto size = [&](std::uint64_t i, std::uint64_t most) {
        return std::int64_t(1 + random.below(i, most));
    };
    samples.push_back(
        {dims_with(model, size(0, 5), {size(1, 24), size(2, 24), size(3, 24)}), Lengths::any, 5});
    std::vector<const Graph*> graphs;
    for (const CompiledProgram& program : compiled.programs) graphs.push_back(&program.graph);
    const SampleDims sizes = sample_dims(model, given);
    for (Sample& sample : samples) {
        for (const std::string& name : names_of(given)) sample.dims[name] = sizes.at(name);
        fit_to_slices(graphs, names_of(given), sample.dims);
    }
    return samples;
}

Values draw_values(const plan::Program& program, const Sample& sample) {
    Values values;
    std::uint32_t stream = 0;
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role != plan::Role::parameter && tensor.role != plan::Role::input) continue;
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, sample.dims));
        const RandomStream random(sample.seed, stream++);
        for (std::size_t i = 0; i < std::size_t(array.size()); ++i)
            array.values.push_back(draw(tensor, sample, random, i, std::size_t(array.size())));
        values[tensor.name] = std::move(array);
    }
    return values;
}

}  // namespace fovea::tool
