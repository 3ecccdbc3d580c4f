// Training steps on batches of examples.
#pragma once

#include <cstdint>
#include <span>

#include "../training_step.h"
#include "checkpoint.h"

namespace fovea::runtime {

/// What a step measured.
struct StepResult {
    double loss_sum = 0;       // of the cross entropies of the batch's tokens, in nats
    std::int64_t tokens = 0;   // that the loss is of
    double gradient_norm = 0;  // before clipping
};

/// Runs the program `training_step` on batches of `training`'s examples.
class Trainer {
  public:
    Trainer(const Model& model, Training& training);

    /// Trains on the `chosen` examples, a batch at a time, and moves the parameters once.
    /// `training.position.step` numbers the step, and stays as it is. Divergence when loss or
    /// gradient is not finite.
    StepResult step(std::span<const std::uint32_t> chosen);

  private:
    [[noreturn]] void refuse_infinite_loss() const;

    Training& training_;
    TrainingStep step_;
};

/// The nats that the `loss` of a batch stands for, of all its tokens.
double total_loss(std::span<const float> loss, const LoadedBatch& batch);

}  // namespace fovea::runtime
