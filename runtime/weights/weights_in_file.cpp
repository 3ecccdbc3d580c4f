#include "weights_in_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "../load_parameters.h"
#include "../memory/shared_buffers.h"

namespace fovea::runtime {

namespace {

/// Gives the whole pages of a block back: those of a file can be read again, others are zeros.
void give_back(const void* address, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes) / page * page;
    if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

bool is_aligned(const TensorView& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(float) == 0;
}

/// Whether a program makes the parameter's next value, a state.
bool is_state(const Model& model, const std::string& parameter) {
    const auto makes = [&](const Program& program) {
        return std::any_of(
            program.outputs.begin(), program.outputs.end(),
            [&](const TensorSpec& output) { return output.state && output.name == parameter; });
    };
    return std::any_of(model.programs.begin(), model.programs.end(), makes);
}

}  // namespace

WeightsInFile::WeightsInFile(Parameters& parameters, const SafetensorsFile& file)
    : parameters_(parameters), file_(file) {
    const Model& model = parameters.model();
    on_device_ = std::any_of(model.programs.begin(), model.programs.end(),
                             [](const Program& program) { return bool(program.executor); });
    if (!on_device_ && parameters.shared_buffers())
        model.shared_buffers->watch(*parameters.shared_buffers(),
                                    {[this] { have_again(); }, [this] { let_go(); }});
}

WeightsInFile::~WeightsInFile() {
    if (!on_device_ && parameters_.shared_buffers())
        parameters_.model().shared_buffers->watch(*parameters_.shared_buffers(), {});
}

void WeightsInFile::load() {
    load_some_parameters(
        parameters_, file_, [](const TensorSpec&) { return true; }, {},
        [this](std::size_t i, const TensorView& tensor) { take(i, tensor); });
}

void WeightsInFile::take(std::size_t i, const TensorView& tensor) {
    const Model& model = parameters_.model();
    const bool fits = tensor.dtype == safetensors_name(DType::f32) &&
                      tensor.shape == parameters_.shape(i) && is_aligned(tensor);
    const bool stays =
        fits && !on_device_ && file_.is_mapped() && !is_state(model, model.parameters[i].name);
    if (stays) {
        // Nobody writes there: the values are those of a command that changes none.
        const auto* const values = reinterpret_cast<const float*>(tensor.bytes.data());
        parameters_.lie_at(i, const_cast<float*>(values));
    } else {
        copy_floats(file_, tensor, parameters_.shape(i), parameters_.values(i));
        if (file_.is_mapped()) give_back(tensor.bytes.data(), tensor.bytes.size());
    }
    if (stays || model.parameters[i].copied) taken_.push_back({i, &tensor, stays});
}

void WeightsInFile::have_again() {
    for (Taken& taken : taken_) {
        if (!taken.is_gone) continue;
        const std::size_t i = taken.parameter;
        copy_floats(file_, *taken.tensor, parameters_.shape(i), parameters_.values(i));
        taken.is_gone = false;
    }
}

void WeightsInFile::let_go() {
    for (Taken& taken : taken_) {
        const std::span<const float> values = parameters_.values(taken.parameter);
        give_back(values.data(), values.size_bytes());
        taken.is_gone = !taken.stays;
    }
}

}  // namespace fovea::runtime
