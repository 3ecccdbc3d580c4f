// A model's training step, as generated headers call it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "../training_step.h"
#include "typed_model.h"
#include "typed_program.h"
#include "typed_tensors.h"

namespace fovea::runtime {

/// What `NAME::Trainer` is made of: the program `training_step`, and an optimizer over the
/// parameters that are trained.
class TypedTrainer {
  public:
    /// UserError for settings out of PyTorch's ranges.
    TypedTrainer(const TypedModel& model, const OptimizerSettings& optimizer,
                 const SessionOptions& options);
    TypedTrainer(TypedTrainer&&) noexcept;
    TypedTrainer& operator=(TypedTrainer&&) noexcept;
    ~TypedTrainer();

    /// Moves the parameters once. Dropout draws from `seed` and the number of the step. UserError
    /// for a rule whose numbers are negative or not finite.
    const TypedTensors& run(std::span<const std::int64_t> sizes,
                            std::initializer_list<GivenInput> inputs, const StepRule& rule,
                            std::uint64_t seed);
    /// Of the last call.
    const TypedTensors& tensors() const;
    const StepOutcome& outcome() const;
    /// What a step with these sizes takes, gradients among it, beside the optimizer's state.
    CallBytes bytes_for(std::span<const std::int64_t> sizes) const;
    /// As SessionOptions::run_on, from the next step on; null: on OpenMP's threads.
    void use_threads(RegionThreads* threads);
    /// Its state and the number of its steps, to be kept and set.
    Optimizer& optimizer();

  private:
    struct State;
    /// UserError where it was moved to another.
    State& state() const;
    std::unique_ptr<State> state_;
};

}  // namespace fovea::runtime
