// Parameters that lie as whole numbers, as models take them: from floats, from files and to files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../parameters.h"
#include "../safetensors.h"
#include "weight_tensors.h"

namespace fovea::runtime {

/// What models link that have such parameters, and others do not.
struct StoredWeights {
    /// Parameter `i`, whose numbers are `tensor` in a file. UserError where a shape or a type is
    /// another, or the scales are missing.
    void (*copy)(Parameters& parameters, std::size_t i, const SafetensorsFile& file,
                 const TensorView& tensor);
    /// The words of the numbers nearest to `values`, as `quantize` has them.
    void (*set)(const WeightLayout& layout, std::span<const float> values, std::string_view name,
                std::span<std::uint32_t> words);
    /// The values of these words, [rows, depth].
    std::vector<float> (*floats)(const WeightLayout& layout, std::span<const std::uint32_t> words);
    /// Adds the numbers and the scales of parameter `i` to those to write.
    void (*write)(Parameters& parameters, std::size_t i, WeightTensors& all);
};

/// Those of the model; InternalError where it names none.
const StoredWeights& stored_weights(const Model& model);

/// Of a name in a file: that of its scales.
std::string name_of_scales(const std::string& name);

}  // namespace fovea::runtime
