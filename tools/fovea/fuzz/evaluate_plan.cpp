#include "tools/fovea/fuzz/evaluate_plan.h"

#include <algorithm>
#include <cmath>

#include "codegen/base/elementwise.h"
#include "codegen/kernel/evaluate.h"
#include "runtime/training/philox.h"

namespace fovea::tool::fuzz {

namespace {

/// Outputs that the graph casts to halves are rounded; what a compiler stores so of its own is not.
void run_step(const plan::Model& model, const plan::Program& program, const plan::Step& step,
              const SampleDims& dims, const KernelRun& run, std::vector<Array>& memory) {
    const kernel::Kernel& kernel = model.kernels[std::size_t(step.kernel)];
    std::vector<std::vector<double>> buffers;
    for (int argument : step.arguments) buffers.push_back(memory[std::size_t(argument)].values);
    const std::vector<int> sites = kernel::sites_of(kernel);
    const auto factor = [&](int site, double probability, std::int64_t row, std::int64_t column) {
        const auto own = std::find(sites.begin(), sites.end(), site) - sites.begin();
        const bool keep =
            runtime::dropout_keep(run.seed, run.step, std::uint32_t(step.sites[std::size_t(own)]),
                                  std::uint32_t(row), std::uint32_t(column), probability);
        return keep ? 1 / (1 - probability) : 0;
    };
    kernel::evaluate(kernel, dims, buffers, factor, run.tile);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (!kernel.buffers[i].written) continue;
        const auto argument = std::size_t(step.arguments[i]);
        const plan::Tensor& tensor = program.tensors[argument];
        if (tensor.role == plan::Role::output && is_half(tensor.dtype))
            for (double& value : buffers[i]) value = converted(value, tensor.dtype);
        memory[argument].values = std::move(buffers[i]);
    }
}

}  // namespace

Values evaluate_plan(const plan::Model& model, const plan::Program& program, const SampleDims& dims,
                     const Values& values, const KernelRun& run) {
    std::vector<Array> memory;
    for (const plan::Tensor& tensor : program.tensors) {
        const auto given = values.find(tensor.name);
        const bool is_given =
            tensor.role == plan::Role::parameter || tensor.role == plan::Role::input;
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, dims));
        if (is_given && given != values.end()) array = given->second;
        else array.values.assign(std::size_t(array.size()), std::nan(""));
        memory.push_back(std::move(array));
    }
    for (const auto* steps : {&program.prepare, &program.steps})
        for (const plan::Step& step : *steps) run_step(model, program, step, dims, run, memory);
    Values outputs;
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (program.tensors[i].role == plan::Role::output)
            outputs[program.tensors[i].name] = std::move(memory[i]);
    return outputs;
}

}  // namespace fovea::tool::fuzz
