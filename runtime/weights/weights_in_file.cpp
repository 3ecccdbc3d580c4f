#include "weights_in_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "../load_parameters.h"
#include "../memory/shared_buffers.h"
#include "../parallel/team.h"

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

/// Whether a tensor's bytes are floats that can be read where they lie.
bool lies_as_floats(const TensorView& tensor) {
    return tensor.dtype == safetensors_name(DType::f32) &&
           reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignof(float) == 0;
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
    : parameters_(parameters),
      file_(file),
      tensors_(parameters.count()),
      comes_(parameters.count()) {
    const Model& model = parameters.model();
    copies_ = std::any_of(model.programs.begin(), model.programs.end(),
                          [](const Program& program) { return bool(program.executor); });
    if (!parameters.shared_buffers()) return;
    model.shared_buffers->set_source(
        *parameters.shared_buffers(),
        {[](void* self, int parameter, Team& team) {
             static_cast<WeightsInFile*>(self)->want(static_cast<std::size_t>(parameter), team);
         },
         [](void* self) { static_cast<WeightsInFile*>(self)->let_all_go(); }, this});
}

WeightsInFile::~WeightsInFile() {
    if (parameters_.shared_buffers())
        parameters_.model().shared_buffers->set_source(*parameters_.shared_buffers(), {});
}

void WeightsInFile::load() {
    load_some_parameters(
        parameters_, file_, [](const TensorSpec&) { return true; }, {},
        [this](std::size_t i, const TensorView& tensor) { take(i, tensor); });
}

void WeightsInFile::take(std::size_t i, const TensorView& tensor) {
    verify_floats(file_, tensor, parameters_.shape(i));
    const Model& model = parameters_.model();
    const TensorSpec& spec = model.parameters[i];
    tensors_[i] = &tensor;
    if (!copies_ && file_.is_mapped() && lies_as_floats(tensor) && !is_state(model, spec.name)) {
        // Nobody writes there: the values are those of a command that changes none.
        const auto* const values = reinterpret_cast<const float*>(tensor.bytes.data());
        return parameters_.lie_at(i, const_cast<float*>(values));
    }
    comes_[i] = !copies_ && parameters_.shared_buffers() && spec.copied;
    if (comes_[i]) return;
    copy_part(tensor, 0, parameters_.values(i));
    give_back_file(tensor);
}

void WeightsInFile::want(std::size_t parameter, Team& team) {
    team.wait();  // all have read the one before
    const Part part = Team::part();
    if (part.index == 0) {
        let_go();
        wanted_ = static_cast<int>(parameter);
    }
    if (comes_[parameter]) {
        const std::span<float> values = parameters_.values(parameter);
        const auto share = [&](int index) {
            return values.size() * static_cast<std::size_t>(index) /
                   static_cast<std::size_t>(part.count);
        };
        const std::size_t first = share(part.index);
        copy_part(*tensors_[parameter], first,
                  values.subspan(first, share(part.index + 1) - first));
    }
    team.wait();
}

void WeightsInFile::let_go() {
    if (wanted_ < 0) return;
    const auto i = static_cast<std::size_t>(wanted_);
    wanted_ = -1;
    if (tensors_[i]) give_back_file(*tensors_[i]);
    if (!comes_[i]) return;
    const std::span<const float> values = parameters_.values(i);
    give_back(values.data(), values.size_bytes());
}

void WeightsInFile::let_all_go() {
    let_go();
    for (const TensorView* const tensor : tensors_)
        if (tensor) give_back_file(*tensor);
}

void WeightsInFile::give_back_file(const TensorView& tensor) const {
    if (file_.is_mapped()) give_back(tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace fovea::runtime
