// An optimizer and a training step over the parameters of a generated header's model.
#include "typed_trainer.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "../error.h"
#include "../parallel/region.h"
#include "../threads.h"

namespace fovea::runtime {

namespace {

void verify_range(bool holds, const char* name, const char* range, double value) {
    if (holds) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    throw UserError("{} should be {}, but is {}", {name, range, text});
}
void verify_below_one(const char* name, double value) {
    verify_range(value >= 0 && value < 1, name, "from 0 on and below 1", value);
}
void verify_not_negative(const char* name, double value) {
    verify_range(value >= 0 && std::isfinite(value), name, "a finite number, not below 0", value);
}

OptimizerSettings verified(const OptimizerSettings& settings) {
    verify_below_one("beta1", settings.beta1);
    verify_below_one("beta2", settings.beta2);
    verify_not_negative("epsilon", settings.epsilon);
    verify_not_negative("momentum", settings.momentum);
    verify_not_negative("weight_decay", settings.weight_decay);
    return settings;
}

StepRule verified(const StepRule& rule) {
    verify_not_negative("learning_rate", rule.learning_rate);
    verify_not_negative("clip", rule.clip);
    verify_range(std::isfinite(rule.gradient_scale), "gradient_scale", "a finite number",
                 rule.gradient_scale);
    return rule;
}

}  // namespace

struct TypedTrainer::State {
    State(const TypedModel& model, const OptimizerSettings& settings, const SessionOptions& options)
        : parameters(model.parameters()),
          optimizer(parameters->trained_size(), verified(settings)),
          step(parameters->model(), *parameters, optimizer),
          tensors(step.instance()),
          threads(checked_threads(options.threads)),
          run_on(options.run_on) {
        step.instance().use_workspace(options.workspace);
    }

    std::shared_ptr<Parameters> parameters;
    Optimizer optimizer;
    TrainingStep step;
    TypedTensors tensors;
    int threads;
    RegionThreads* run_on;
    StepOutcome outcome = {};
};

TypedTrainer::TypedTrainer(const TypedModel& model, const OptimizerSettings& optimizer,
                           const SessionOptions& options)
    : state_(std::make_unique<State>(model, optimizer, options)) {}
TypedTrainer::TypedTrainer(TypedTrainer&&) noexcept = default;
TypedTrainer& TypedTrainer::operator=(TypedTrainer&&) noexcept = default;
TypedTrainer::~TypedTrainer() = default;

TypedTrainer::State& TypedTrainer::state() const {
    if (!state_) throw UserError("a trainer is called that was moved to another");
    return *state_;
}

const TypedTensors& TypedTrainer::run(std::span<const std::int64_t> sizes,
                                      std::initializer_list<GivenInput> inputs,
                                      const StepRule& rule, std::uint64_t seed) {
    State& own = state();
    own.tensors.place(sizes, inputs);
    const ThreadsOfRegions threads(own.threads, own.run_on);
    own.outcome = own.step.run(seed, own.optimizer.step(), verified(rule));
    return own.tensors;
}

const TypedTensors& TypedTrainer::tensors() const { return state().tensors; }
const StepOutcome& TypedTrainer::outcome() const { return state().outcome; }
CallBytes TypedTrainer::bytes_for(std::span<const std::int64_t> sizes) const {
    return state().step.instance().bytes_for(sizes);
}
void TypedTrainer::use_threads(RegionThreads* threads) { state().run_on = threads; }
Optimizer& TypedTrainer::optimizer() { return state().optimizer; }

}  // namespace fovea::runtime
