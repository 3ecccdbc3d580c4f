// Tensors of the numbers 1, 2, 3, … for the tests of files and runs.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/safetensors.h"

namespace fovea::test {

/// 1, 2, … 24.
inline const std::vector<float>& counted() {
    static const std::vector<float> values = [] {
        std::vector<float> numbers(24);
        std::iota(numbers.begin(), numbers.end(), 1.0F);
        return numbers;
    }();
    return values;
}

/// The first of `counted`, at most 24.
inline runtime::TensorView counted_tensor(const char* name, std::vector<std::int64_t> shape) {
    std::size_t count = 1;
    for (std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    return runtime::f32_tensor(name, std::move(shape), std::span(counted()).first(count));
}

}  // namespace fovea::test
