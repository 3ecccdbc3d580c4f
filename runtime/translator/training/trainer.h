// Training steps on batches of sentence pairs.
#pragma once

#include <cstdint>
#include <span>

#include "../../training_step.h"
#include "checkpoint.h"

namespace fovea::runtime {

/// What a step measured.
struct StepResult {
    double loss_sum = 0;       // of the cross entropies of the batch's target tokens, in nats
    std::int64_t tokens = 0;   // target tokens
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

/// A batch in an instance's inputs.
struct LoadedBatch {
    std::int64_t tokens = 0;  // target tokens
    std::size_t target_steps = 0;  // that the program runs over
    std::size_t loss_steps = 0;    // that the loss is the mean over: target_steps, or 1 for sums
};

/// The sum of the cross entropies that a batch's `loss` stands for: loss[b] is the mean over all
/// `steps` of the terms inside sequence b's length.
double total_loss(std::span<const float> loss, std::size_t steps);

/// Binds `instance` to a batch of `chosen` examples and fills its inputs. Steps that are padding in
/// the whole batch are left out (unless `examples` says that sources keep them): they change no
/// value at a valid position. A model that takes no
/// `tgt_lens` sums its loss over the targets that are not padding.
LoadedBatch load_batch(Instance& instance, const Examples& examples,
                       std::span<const std::uint32_t> chosen);

}  // namespace fovea::runtime
