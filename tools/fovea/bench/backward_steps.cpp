#include "tools/fovea/bench/backward_steps.h"

#include <algorithm>
#include <chrono>

#include "codegen/base/error.h"

namespace fovea::tool {

namespace {

double now_in_milliseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

bool writes_gradient(const CompiledProgram& program, const plan::Tensor& tensor) {
    return program.optimized[tensor.node].backward || tensor.name.ends_with(".grad");
}

}  // namespace

std::vector<bool> backward_steps(const plan::Model& model, const CompiledProgram& program) {
    const std::vector<plan::Step>& steps = program.plan.steps;
    std::vector<bool> backward(steps.size(), false), read_forward(program.plan.tensors.size());
    for (std::size_t i = steps.size(); i-- > 0;) {
        const kernel::Kernel& kernel = model.kernels[std::size_t(steps[i].kernel)];
        bool known = false, wanted = false;
        for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
            if (!kernel.buffers[b].written) continue;
            const int number = steps[i].arguments[b];
            const plan::Tensor& tensor = program.plan.tensors[std::size_t(number)];
            wanted = wanted || read_forward[std::size_t(number)];
            if (tensor.node < 0) continue;
            known = true;
            backward[i] = backward[i] || writes_gradient(program, tensor);
        }
        // A rearranged copy is no value of the graph: it belongs to those who read it.
        if (!known) backward[i] = !wanted;
        if (backward[i]) continue;
        for (int number : steps[i].arguments) read_forward[std::size_t(number)] = true;
    }
    return backward;
}

StepTimer::StepTimer(std::vector<bool> chosen) : chosen_(std::move(chosen)) {
    if (std::find(chosen_.begin(), chosen_.end(), true) == chosen_.end())
        throw InternalError("bench: the gradient program has no kernel of the backward pass");
}

void StepTimer::observe(void* state, int step) {
    auto& self = *static_cast<StepTimer*>(state);
    const double now = now_in_milliseconds();
    if (self.chosen_[std::size_t(step)]) self.sum_ += now - self.last_;
    self.last_ = now;
}

double StepTimer::milliseconds_of_run(runtime::Instance& instance) {
    runtime::Call call;
    call.observe = observe;
    call.observe_state = this;
    sum_ = 0;
    last_ = now_in_milliseconds();
    instance.run_call(call);
    return sum_;
}

}  // namespace fovea::tool
