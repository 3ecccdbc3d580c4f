// Attention whose products take bfloat16.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "tests/kernel/attention_programs.h"

namespace fovea::test {

/// The same with every product's operands rounded to bfloat16.
inline kernel::Kernel in_bfloat16(kernel::Kernel kernel) {
    kernel.name += "_bfloat16";
    for (kernel::Node& node : kernel.nodes)
        if (auto contract = std::get_if<kernel::Contract>(&node.operation))
            contract->factors = kernel::Factors::bf16;
    return kernel;
}

/// The same with tensors of rows, queries and the like, and what is stored to them, in memory as
/// bfloat16.
inline kernel::Kernel in_bfloat16_memory(kernel::Kernel kernel) {
    kernel = in_bfloat16(std::move(kernel));
    kernel.name = kernel.name.substr(0, kernel.name.rfind('_')) + "_memory_bfloat16";
    const std::set<std::string> tensors = {"Q", "K", "V", "O", "dO", "dQ", "dK", "dV"};
    for (kernel::Buffer& buffer : kernel.buffers)
        if (tensors.contains(buffer.name)) buffer.dtype = DType::bf16;
    return kernel;
}

/// The gradient's operands of products are read by them alone, as matrix instructions take them.
inline std::vector<kernel::Kernel> gradients_in_bfloat16(AttentionVariant variant) {
    variant.given_delta = true;
    std::vector<kernel::Kernel> kernels = attention_gradients(variant);
    for (kernel::Kernel& kernel : kernels) kernel = in_bfloat16(std::move(kernel));
    return kernels;
}

/// Attention forward, and its gradients by side.
inline std::vector<kernel::Kernel> attention_kernels(const AttentionVariant& variant) {
    std::vector<kernel::Kernel> kernels = attention_gradients(variant);
    kernels.insert(kernels.begin(), attention_forward(variant));
    return kernels;
}

}  // namespace fovea::test
