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

TypedProgram::State& TypedProgram::state() const {
    if (!state_) throw UserError("a session is called that was moved to another");
    return *state_;
}

const TypedTensors& TypedProgram::run(std::span<const std::int64_t> sizes,
                                      std::initializer_list<GivenInput> inputs,
                                      std::initializer_list<void*> outputs, Draw draw) {
    State& own = state();
    if (own.starter) own.verify_begun(sizes);
    if (own.started) own.place_started(sizes);
    own.tensors.place(sizes, inputs, outputs);
    const ThreadsOfRegions threads(own.threads, own.run_on);
    own.instance.run(draw.seed, draw.step);
    if (own.started) {
        own.started->instance.states_changed();
        own.started->has_begun = true;
    }
    return own.tensors;
}

void TypedProgram::starts(TypedProgram& other) {
    State &own = state(), &started = other.state();
    started.starter = &own;
    own.started = &started;
    for (const TensorSpec& input : started.instance.program().inputs) {
        if (!input.state || !own.instance.has_output(input.name)) continue;
        own.tensors.hide(input.name);
        own.instance.place_output(input.name, nullptr);  // no memory of its own
        own.made.push_back({&input, nullptr, {}});
    }
}

const TypedTensors& TypedProgram::tensors() const { return state().tensors; }

CallBytes TypedProgram::bytes_for(std::span<const std::int64_t> sizes) const {
    return state().instance.bytes_for(sizes);
}

void TypedProgram::use_workspace(std::span<std::byte> memory) {
    State& own = state();
    own.has_begun = false;  // states are zeros again
    own.tensors.unbind();
    own.instance.use_workspace(memory);
}

void TypedProgram::use_threads(RegionThreads* threads) { state().run_on = threads; }

void TypedProgram::reset() {
    State& own = state();
    own.has_begun = false;
    own.instance.clear_states();
}

}  // namespace fovea::runtime
