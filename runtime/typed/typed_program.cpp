// A program bound to parameters that sessions share.
#include "typed_program.h"

#include <utility>

#include "../threads.h"

namespace fovea::runtime {

struct TypedProgram::State {
    State(const TypedModel& model, const char* program, const SessionOptions& options)
        : parameters(model.parameters()),
          instance(parameters->model(), program, *parameters),
          tensors(instance),
          threads(options.threads) {
        instance.keep_states(Instance::States::of_session);
        instance.use_workspace(options.workspace);
    }

    std::shared_ptr<Parameters> parameters;
    Instance instance;
    TypedTensors tensors;
    int threads;
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
    state_->tensors.place(sizes, inputs, outputs);
    const ThreadsOfRegions threads(state_->threads);
    state_->instance.run(draw.seed, draw.step);
    return state_->tensors;
}

const TypedTensors& TypedProgram::tensors() const { return state_->tensors; }

CallBytes TypedProgram::bytes_for(std::span<const std::int64_t> sizes) const {
    return state_->instance.bytes_for(sizes);
}

void TypedProgram::use_workspace(std::span<std::byte> memory) {
    state_->tensors.unbind();
    state_->instance.use_workspace(memory);
}

void TypedProgram::reset() { state_->instance.clear_states(); }

}  // namespace fovea::runtime
