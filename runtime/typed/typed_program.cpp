// A program bound to parameters that sessions share.
#include "typed_program.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../error.h"
#include "../parallel/region.h"
#include "../threads.h"

namespace fovea::runtime {

struct TypedProgram::State {
    State(const TypedModel& model, const char* program, const SessionOptions& options)
        : parameters(model.parameters()),
          instance(parameters->model(), program, *parameters),
          tensors(instance),
          threads(checked_threads(options.threads)),
          run_on(options.run_on) {
        instance.keep_states(Instance::States::of_session);
        instance.use_workspace(options.workspace);
    }

    /// A state of `started` that this one makes.
    struct Made {
        const TensorSpec* spec;  // the input of `started`
        void* address;           // null: it has none yet
        std::vector<std::int64_t> shape;
    };
    /// Has the states of `started` lie where this program's outputs go, for a call of these sizes.
    void place_started(std::span<const std::int64_t> sizes) {
        started->has_begun = false;  // until this call has ended
        started->tensors.bind_to(sizes);
        started->instance.clear_states();  // that this one does not make
        for (Made& state : made) {
            state.shape = started->instance.shape_of(*state.spec);
            void* const address = started->instance.input<void>(state.spec->name);
            if (address != state.address) instance.place_output(state.spec->name, address);
            state.address = address;
        }
        started->sizes_begun.assign(sizes.begin(), sizes.end());
    }
    /// Whether the states have the shapes that they began with.
    bool goes_on(std::span<const std::int64_t> sizes) {
        if (std::equal(sizes.begin(), sizes.end(), sizes_begun.begin(), sizes_begun.end()))
            return true;
        tensors.bind_to(sizes);
        const std::vector<Made>& begun = starter->made;
        return std::all_of(begun.begin(), begun.end(), [&](const Made& state) {
            return instance.shape_of(*state.spec) == state.shape;
        });
    }
    void verify_begun(std::span<const std::int64_t> sizes) {
        has_begun = has_begun && goes_on(sizes);
        if (has_begun) return;
        throw UserError(
            "program '{}' goes on from what '{}' has read: call that before, with the same sizes",
            {instance.program().name, starter->instance.program().name});
    }

    std::shared_ptr<Parameters> parameters;
    Instance instance;
    TypedTensors tensors;
    int threads;
    RegionThreads* run_on;
    State* started = nullptr;  // begins with what this one makes
    std::vector<Made> made;
    State* starter = nullptr;  // makes what this one begins with
    bool has_begun = false;  // by a call of `starter`
    std::vector<std::int64_t> sizes_begun;  // of that call
};

TypedProgram::TypedProgram(const TypedModel& model, const char* program,
                           const SessionOptions& options)
    : state_(std::make_unique<State>(model, program, options)) {}
TypedProgram::TypedProgram(TypedProgram&&) noexcept = default;
TypedProgram& TypedProgram::operator=(TypedProgram&&) noexcept = default;
TypedProgram::~TypedProgram() = default;

const TypedTensors& TypedProgram::run(std::span<const std::int64_t> sizes,
                                      std::initializer_list<GivenInput> inputs,
                                      std::initializer_list<void*> outputs, Draw draw) {
    if (state_->starter) state_->verify_begun(sizes);
    if (state_->started) state_->place_started(sizes);
    state_->tensors.place(sizes, inputs, outputs);
    const ThreadsOfRegions threads(state_->threads, state_->run_on);
    state_->instance.run(draw.seed, draw.step);
    if (state_->started) {
        state_->started->instance.states_changed();
        state_->started->has_begun = true;
    }
    return state_->tensors;
}

void TypedProgram::starts(TypedProgram& other) {
    State& started = *other.state_;
    started.starter = state_.get();
    state_->started = &started;
    for (const TensorSpec& input : started.instance.program().inputs) {
        if (!input.state || !state_->instance.has_output(input.name)) continue;
        state_->tensors.hide(input.name);
        state_->instance.place_output(input.name, nullptr);  // no memory of its own
        state_->made.push_back({&input, nullptr, {}});
    }
}

const TypedTensors& TypedProgram::tensors() const { return state_->tensors; }

CallBytes TypedProgram::bytes_for(std::span<const std::int64_t> sizes) const {
    return state_->instance.bytes_for(sizes);
}

void TypedProgram::use_workspace(std::span<std::byte> memory) {
    state_->has_begun = false;  // states are zeros again
    state_->tensors.unbind();
    state_->instance.use_workspace(memory);
}

void TypedProgram::use_threads(RegionThreads* threads) { state_->run_on = threads; }

void TypedProgram::reset() {
    state_->has_begun = false;
    state_->instance.clear_states();
}

}  // namespace fovea::runtime
