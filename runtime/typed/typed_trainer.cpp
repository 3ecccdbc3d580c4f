// An optimizer and a training step over the parameters of a generated header's model.
#include "typed_trainer.h"

#include <utility>

#include "../threads.h"

namespace fovea::runtime {

struct TypedTrainer::State {
    State(const TypedModel& model, const OptimizerSettings& settings, const SessionOptions& options)
        : parameters(model.parameters()),
          optimizer(parameters->trained_size(), settings),
          step(parameters->model(), *parameters, optimizer),
          tensors(step.instance()),
          threads(options.threads) {
        step.instance().use_workspace(options.workspace);
    }

    std::shared_ptr<Parameters> parameters;
    Optimizer optimizer;
    TrainingStep step;
    TypedTensors tensors;
    int threads;
    StepOutcome outcome = {};
};

TypedTrainer::TypedTrainer(const TypedModel& model, const OptimizerSettings& optimizer,
                           const SessionOptions& options)
    : state_(std::make_unique<State>(model, optimizer, options)) {}
TypedTrainer::TypedTrainer(TypedTrainer&&) noexcept = default;
TypedTrainer& TypedTrainer::operator=(TypedTrainer&&) noexcept = default;
TypedTrainer::~TypedTrainer() = default;

const TypedTensors& TypedTrainer::run(std::span<const std::int64_t> sizes,
                                      std::initializer_list<GivenInput> inputs,
                                      const StepRule& rule, std::uint64_t seed) {
    state_->tensors.place(sizes, inputs);
    const ThreadsOfRegions threads(state_->threads);
    state_->outcome = state_->step.run(seed, state_->optimizer.step(), rule);
    return state_->tensors;
}

const TypedTensors& TypedTrainer::tensors() const { return state_->tensors; }
const StepOutcome& TypedTrainer::outcome() const { return state_->outcome; }
CallBytes TypedTrainer::bytes_for(std::span<const std::int64_t> sizes) const {
    return state_->step.instance().bytes_for(sizes);
}
Optimizer& TypedTrainer::optimizer() { return state_->optimizer; }

}  // namespace fovea::runtime
