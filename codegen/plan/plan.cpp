// What is asked of planned models.
#include "codegen/plan/plan.h"

#include <algorithm>

namespace fovea::plan {

bool holds_lengths(const Tensor& tensor) {
    return std::any_of(tensor.checks.begin(), tensor.checks.end(),
                       [](const Check& check) { return check.holds == Holds::lengths; });
}

bool has_halves(const kernel::Kernel& kernel, DType half) {
    const auto multiplies = [&](const kernel::Node& node) {
        const auto* product = std::get_if<kernel::Contract>(&node.operation);
        return product && product->factors == kernel::factors_of(half);
    };
    return std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                       [&](const kernel::Buffer& buffer) { return buffer.dtype == half; }) ||
           std::any_of(kernel.nodes.begin(), kernel.nodes.end(), multiplies);
}

bool has_stored_weights(const Model& model) {
    return std::any_of(model.parameters.begin(), model.parameters.end(),
                       [](const Tensor& tensor) { return bool(tensor.storage); });
}

bool has_halves(const Model& model, DType half) {
    return std::any_of(model.kernels.begin(), model.kernels.end(),
                       [&](const kernel::Kernel& kernel) { return has_halves(kernel, half); });
}

}  // namespace fovea::plan
