#include "tools/fovea/fuzz/run_generated.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tools/fovea/fuzz/guarded_tensors.h"
#include "tools/fovea/verify/tensor_memory.h"

namespace fovea::tool::fuzz {

void set_parameters(runtime::Parameters& parameters, const Values& values) {
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const auto given = values.find(parameters.model().parameters[i].name);
        if (given != values.end())
            std::copy(given->second.values.begin(), given->second.values.end(),
                      parameters.values(i).begin());
    }
    parameters.mark_changed();
}

GeneratedRuns::GeneratedRuns(const runtime::Model& generated, const plan::Program& program,
                             const SampleDims& dims, const Values& values, bool in_place)
    : GeneratedRuns(program,
                    std::make_shared<runtime::Parameters>(
                        generated, runtime::DimValues(dims.begin(), dims.end())),
                    in_place) {
    set_parameters(*parameters_, values);
}

GeneratedRuns::GeneratedRuns(const plan::Program& program,
                             std::shared_ptr<runtime::Parameters> parameters, bool in_place)
    : program_(program),
      parameters_(std::move(parameters)),
      instance_(parameters_->model(), program.name, *parameters_),
      in_place_(in_place) {
    if (in_place) instance_.keep_states();
}

/// Every byte of outputs and workspace is set, which makes floats NaN.
void GeneratedRuns::fill_with_nan(const SampleDims& dims) {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
        const plan::Tensor& tensor = program_.tensors[i];
        if (tensor.role != plan::Role::buffer && tensor.role != plan::Role::output) continue;
        if (tensor.state && in_place_) continue;
        std::int64_t bytes = size_of(tensor.dtype);
        for (const Dim& dim : tensor.shape) bytes *= value_of(dim, dims);
        if (void* address = instance_.tensor(i)) std::memset(address, 0xff, std::size_t(bytes));
    }
}

Values GeneratedRuns::run(const SampleDims& dims, const Values& values, std::uint64_t seed,
                          std::uint64_t step) {
    instance_.bind(runtime::DimValues(dims.begin(), dims.end()));
    std::optional<GuardedTensors> guarded;
    if (!instance_.executor()) {
        guarded.emplace(instance_, *parameters_, program_, dims);
        fill_with_nan(dims);
    }
    for (const plan::Tensor& tensor : program_.tensors)
        if (tensor.role == plan::Role::input)
            write_tensor(instance_.input<void>(tensor.name), tensor.dtype, values.at(tensor.name));
    instance_.run(seed, step);
    Values outputs;
    for (const plan::Tensor& tensor : program_.tensors) {
        if (tensor.role != plan::Role::output) continue;
        Array array;
        for (const Dim& dim : tensor.shape) array.shape.push_back(value_of(dim, dims));
        array.values = read_tensor(instance_.output<void>(tensor.name), tensor.dtype,
                                   std::size_t(array.size()));
        outputs[tensor.name] = std::move(array);
    }
    return outputs;
}

}  // namespace fovea::tool::fuzz
