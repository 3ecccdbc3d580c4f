// States of a program from run to run.
#include <cstring>

#include "error.h"
#include "instance.h"
#include "memory/shape.h"

namespace fovea::runtime {

void Instance::keep_states(States which) {
    keeps_states_ = true;
    keeps_parameters_ = which == States::all;
    states_changed_ = true;
    bindings_.clear();
    tensors_.clear();
}

bool Instance::is_kept(const TensorSpec& output) const {
    return output.state && keeps_states_ &&
           (keeps_parameters_ || parameters_->find(output.name) < 0);
}

/// Puts what states become where they are.
void Instance::place_states() {
    const std::size_t inputs = parameters_->count(), outputs = inputs + program_->inputs.size();
    for (std::size_t i = 0; i < program_->outputs.size(); ++i) {
        const TensorSpec& state = program_->outputs[i];
        if (!is_kept(state)) continue;
        const int input = find_tensor(program_->inputs, state.name);
        const int parameter = parameters_->find(state.name);
        if (input < 0 && parameter < 0)
            throw InternalError("program '{}' has no state '{}'", {program_->name, state.name});
        const std::size_t from = input < 0 ? static_cast<std::size_t>(parameter)
                                           : inputs + static_cast<std::size_t>(input);
        tensors_[outputs + i] = tensors_[from];
    }
}

void Instance::clear_states() {
    if (!keeps_states_ || tensors_.empty()) return;
    states_changed_ = true;
    for (std::size_t i = 0; i < program_->inputs.size(); ++i) {
        const TensorSpec& spec = program_->inputs[i];
        const auto count = static_cast<std::size_t>(element_count(shape_of(spec)));
        if (spec.state)
            std::memset(tensors_[parameters_->count() + i], 0, count * size_of(spec.dtype));
    }
}

void Instance::fetch_states() {
    if (executor_ && leaves_states_ && !states_changed_) executor_->fetch_states(complete(Call{}));
}

}  // namespace fovea::runtime
