#include "tools/fovea/fuzz/run_generated.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/session.h"
#include "tools/fovea/fuzz/guarded_tensors.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool::fuzz {

namespace {

/// Every byte of outputs and workspace is set, which makes floats NaN.
void fill_with_nan(runtime::Instance& instance, const plan::Program& program,
                   const SampleDims& dims, bool in_place) {
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const plan::Tensor& tensor = program.tensors[i];
        if (tensor.role != plan::Role::buffer && tensor.role != plan::Role::output) continue;
        if (tensor.state && in_place) continue;
        std::int64_t bytes = size_of(tensor.dtype);
        for (const Dim& dim : tensor.shape) bytes *= value_of(dim, dims);
        if (void* address = instance.tensor(i)) std::memset(address, 0xff, std::size_t(bytes));
    }
}

}  // namespace

Values run_generated(const runtime::Model& generated, const plan::Program& program,
                     const SampleDims& dims, const Values& values, std::uint64_t seed,
                     std::uint64_t step, bool in_place) {
    const runtime::DimValues sizes(dims.begin(), dims.end());
    runtime::Parameters parameters(generated, sizes);
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const auto given = values.find(generated.parameters[i].name);
        if (given != values.end())
            std::copy(given->second.values.begin(), given->second.values.end(),
                      parameters.values(i).begin());
    }
    parameters.mark_changed();
    runtime::Instance instance(generated, program.name, parameters);
    if (in_place) instance.keep_states();
    instance.bind(sizes);
    std::optional<GuardedTensors> guarded;
    if (!instance.executor()) guarded.emplace(instance, program, dims);
    if (!instance.executor()) fill_with_nan(instance, program, dims, in_place);
    for (const plan::Tensor& tensor : program.tensors)
        if (tensor.role == plan::Role::input)
            write_tensor(instance.input<void>(tensor.name), tensor.dtype, values.at(tensor.name));
    instance.run(seed, step);
    Values outputs;
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role != plan::Role::output) continue;
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, dims));
        array.values = read_tensor(instance.output<void>(tensor.name), tensor.dtype,
                                   std::size_t(array.size()));
        outputs[tensor.name] = std::move(array);
    }
    return outputs;
}

}  // namespace fovea::tool::fuzz
