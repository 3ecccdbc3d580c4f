// The calls of a bound program: what is checked before and after, and by whom it is run.
#include <algorithm>
#include <exception>

#include "check_inputs_of_shape.h"
#include "error.h"
#include "instance.h"
#include "memory/shared_buffers.h"
#include "parallel/team.h"
#include "profile/program_profile.h"
#include "threads.h"

namespace fovea::runtime {

/// A call whose last part, where parameters move, is left out when what the program computed is out
/// of range.
class Instance::CheckedFinish {
  public:
    CheckedFinish(const Instance& instance, const Call& call) : instance_(instance), call_(call) {}

    Call call() {
        Call result = call_;
        if (!call_.finish) return result;
        result.finish = [](void* state, Team& team) {
            static_cast<CheckedFinish*>(state)->finish(team);
        };
        result.finish_state = this;
        return result;
    }
    /// After the run: throws what was found.
    void rethrow() {
        if (!is_checked_) instance_.check_computed(call_);
        if (error_) std::rethrow_exception(error_);
    }

  private:
    /// All threads of the region call it; an exception must not leave the region.
    void finish(Team& team) {
        if (Team::part().index == 0) {
            try {
                instance_.check_computed(call_);
            } catch (...) {
                error_ = std::current_exception();
            }
            is_checked_ = true;
        }
        team.wait();
        if (!error_) call_.finish(call_.finish_state, team);
    }

    const Instance& instance_;
    const Call& call_;
    bool is_checked_ = false;
    std::exception_ptr error_;
};

Call Instance::complete(Call call) {
    if (tensors_.empty()) throw InternalError("program '{}' is not bound", {program_->name});
    call.dims = dims_.data();
    call.tensors = tensors_.data();
    call.halves = parameters_->halves();
    call.shards = layout_ ? &layout_->shards : nullptr;
    call.states_stay = keeps_states_ && leaves_states_;
    call.states_changed = states_changed_;
    return call;
}

/// For those who look at what kernels leave in memory.
void Instance::bind_whole() {
    is_whole_ = true;
    if (!layout_) return;
    bindings_.clear();
    place_buffers(layout_for(dims_));
}

void Instance::check_inputs() {
    const Call call = complete(Call{});
    if (program_->check_inputs) program_->check_inputs(call);
}

void Instance::run(std::uint64_t seed, std::uint64_t step) {
    Call call;
    call.seed = seed;
    call.step = step;
    run_call(call);
}

void Instance::run_call(Call call) {
    if (!program_->run && !executor_)
        throw InternalError("program '{}' has no code", {program_->name});
    if (call.observe) bind_whole();
    parameters_->fetch();
    run_call(call, [this](const Call& complete) {
        if (executor_) return executor_->run(complete);
        const ThreadsBesideOthers threads;
        program_->run(complete);
    });
}

/// Has all prepared that the program reads. Whoever fills what others share holds them up, and
/// does nothing else meanwhile: least of all does it wait for threads that they may be on.
void Instance::prepare(Call call, std::uint64_t version) {
    call.only_prepares = true;
    call.observe = nullptr;
    call.finish = nullptr;
    model_->shared_buffers->run(*shared_, *program_, version, call, [&] {
        const ThreadsBesideOthers threads;
        program_->run(call);
    });
}

inline void Instance::do_work(const Call& call, const std::function<void(const Call&)>& work) {
    if (profile_ && !call.observe) [[unlikely]]
        return model_->profiled_runs->run(*profile_, call, work);
    work(call);
}

void Instance::run_call(Call call, const std::function<void(const Call&)>& work) {
    call = complete(call);
    if (program_->check_inputs) program_->check_inputs(call);
    const std::uint64_t version = parameters_->version();
    call.prepare = prepared_version_ != version;
    const auto run_checked = [&] {
        if (program_->computed.empty()) return do_work(call, work);
        CheckedFinish checked(*this, call);
        do_work(checked.call(), work);
        checked.rethrow();
    };
    if (call.prepare)
        for (const int i : program_->whole) (void)parameters_->values(static_cast<std::size_t>(i));
    if (call.prepare && shared_) {
        prepare(call, version);
        call.prepare = false;
    }
    run_checked();
    prepared_version_ = version;
    states_changed_ = false;
    const bool moves_parameters = std::any_of(
        program_->outputs.begin(), program_->outputs.end(), [&](const TensorSpec& output) {
            return is_kept(output) && parameters_->find(output.name) >= 0;
        });
    if (!moves_parameters) return;
    // Nothing that is prepared depends on states.
    parameters_->mark_changed();
    prepared_version_ = parameters_->version();
}

void Instance::check_computed(const Call& call) const {
    runtime::check_computed(*program_, call, dims_, tensors_.size() - program_->buffers.size());
}

}  // namespace fovea::runtime
