#include "program_run.h"

#include <array>

#include "../check_inputs_of_shape.h"
#include "run_kernel.h"

namespace fovea::runtime::device {
namespace {

using Key = std::array<std::uint64_t, 2>;  // seed and step

}  // namespace

ProgramRun::ProgramRun(std::shared_ptr<const Shared> shared, const Program& program,
                       const Steps& steps)
    : shared_(std::move(shared)),
      program_(program),
      steps_(steps),
      device_(*shared_->device),
      placement_(device_, *shared_->model, program),
      key_(device_) {
    key_.reserve(sizeof(Key));
}

Placement::Change ProgramRun::bind(const Call& call) {
    const Placement::Change change = placement_.bind(call);
    if (change.places) forget();
    return change;
}

void ProgramRun::forget() {
    recording_.reset();
    has_run_ = false;
}

void ProgramRun::copy_parameters() {
    const Region& flat = placement_.parameters();
    if (flat.bytes) device_.copy_in(flat.address, placement_.parameters_on_host(), flat.bytes);
}

void ProgramRun::copy_inputs(const Call& call, bool places) {
    const bool with_states = places || !call.states_stay || call.states_changed;
    for (std::size_t i = placement_.first_input(); i < placement_.first_output(); ++i)
        if (placement_[i].bytes &&
            (with_states || !program_.inputs[i - placement_.first_input()].state))
            device_.copy_in(placement_[i].address, call.tensors[i], placement_[i].bytes);
    const Key key = {call.seed, call.step};
    device_.copy_in(key_.address(), key.data(), sizeof key);
}

void ProgramRun::copy_out(const Call& call, std::size_t tensor) {
    const Region& region = placement_[tensor];
    if (region.bytes) device_.copy_out_at_wait(call.tensors[tensor], region.address, region.bytes);
}

/// Whether an output is a state that stays on the device: it lies over an input.
bool ProgramRun::stays(const Call& call, std::size_t output) const {
    if (!call.states_stay || !program_.outputs[output - placement_.first_output()].state)
        return false;
    for (std::size_t i = placement_.first_input(); i < placement_.first_output(); ++i)
        if (call.tensors[i] == call.tensors[output]) return true;
    return false;
}

void ProgramRun::copy_outputs(const Call& call, bool with_gradients) {
    for (std::size_t i = placement_.first_output(); i < placement_.first_buffer(); ++i)
        if ((with_gradients || !placement_.is_gradient(i)) && !stays(call, i)) copy_out(call, i);
    copy_computed(call);
}

void ProgramRun::copy_states(const Call& call) {
    for (std::size_t i = placement_.first_output(); i < placement_.first_buffer(); ++i)
        if (stays(call, i)) copy_out(call, i);
}

void ProgramRun::copy_computed(const Call& call) {
    for (const ComputedCheck& check : program_.computed)
        copy_out(call, placement_.first_buffer() + static_cast<std::size_t>(check.buffer));
}

void ProgramRun::check_computed(const Call& call) {
    copy_computed(call);
    device_.synchronize();
    runtime::check_computed(program_, call, placement_.dims(), placement_.first_buffer());
}

void ProgramRun::run_kernel(const Step& step, std::vector<Region> tensors,
                            std::span<const std::int64_t> more_dims) {
    const Kernel& own = shared_->module->kernels[static_cast<std::size_t>(step.kernel)];
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].written = own.buffers[i].written;
    std::vector<std::int64_t> dims(placement_.dims().begin(), placement_.dims().end());
    dims.insert(dims.end(), more_dims.begin(), more_dims.end());
    device::run_kernel(device_, own, tensors, dims, {key_.address(), step.sites},
                       shared_->module_number);
}

void ProgramRun::run_step(const Step& step) {
    std::vector<Region> tensors;
    for (int tensor : step.arguments)
        tensors.push_back(placement_[static_cast<std::size_t>(tensor)]);
    run_kernel(step, std::move(tensors));
}

void ProgramRun::prepare() {
    for (const Step& step : steps_.prepare) run_step(step);
}

void ProgramRun::run_steps() {
    for (const Step& step : steps_.steps) run_step(step);
}

void ProgramRun::run_observed(const Call& call) {
    if (call.observe_time) {
        device_.synchronize();
        call.observe(call.observe_state, -1);
    }
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
        const Step& step = steps_.steps[i];
        run_step(step);
        const Kernel& kernel = shared_->module->kernels[static_cast<std::size_t>(step.kernel)];
        for (std::size_t a = 0; a < step.arguments.size(); ++a)
            if (kernel.buffers[a].written && !call.observe_time)
                copy_out(call, static_cast<std::size_t>(step.arguments[a]));
        device_.synchronize();
        call.observe(call.observe_state, static_cast<int>(i));
    }
}

void ProgramRun::repeat(const std::function<void()>& work) {
    if (has_run_ && !recording_) recording_ = device_.record(work);
    has_run_ = true;
    if (recording_) device_.replay(*recording_);
    else work();
}

}  // namespace fovea::runtime::device
