// The training step: the sum of the losses is differentiated, times what the data says, the
// gradient is clipped by its global norm, and the optimizer moves the parameters.
#include "trainer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "finite.h"

namespace fovea::runtime {

Trainer::Trainer(const Model& model, Training& training)
    : training_(training), step_(model, training.parameters, training.optimizer) {}

StepResult Trainer::step(std::span<const std::uint32_t> chosen) {
    const TrainingSettings& settings = training_.settings;
    const std::uint64_t step = training_.position.step;
    const auto batches = static_cast<std::uint64_t>(settings.accumulate);
    const auto most = static_cast<std::size_t>(settings.batch);
    StepResult result;
    std::span<const std::uint32_t> left = chosen;
    for (std::uint64_t number = step * batches; !left.empty(); ++number) {
        const std::span<const std::uint32_t> batch = left.first(std::min(most, left.size()));
        left = left.subspan(batch.size());
        const LoadedBatch loaded = training_.data.load(step_.instance(), batch, chosen);
        if (left.empty()) {
            const StepOutcome outcome =
                step_.run(settings.seed, number,
                          {.learning_rate = settings.learning_rate.at(step + 1),
                           .clip = settings.clip,
                           .gradient_scale = loaded.share});
            if (!outcome.moved) refuse_infinite_loss();
            result.gradient_norm = outcome.gradient_norm;
        } else {
            step_.accumulate(settings.seed, number, loaded.share);
        }
        result.tokens += loaded.tokens;
        result.loss_sum += total_loss(step_.instance().output_values("loss"), loaded);
        if (!std::isfinite(result.loss_sum)) refuse_infinite_loss();
    }
    return result;
}

void Trainer::refuse_infinite_loss() const {
    throw Divergence("the loss is no longer finite at step " +
                     std::to_string(training_.position.step + 1) + " (epoch " +
                     std::to_string(training_.position.epoch + 1) +
                     "); train again with a smaller --lr");
}

double total_loss(std::span<const float> loss, const LoadedBatch& batch) {
    double sum = 0;
    for (const float mean : loss) sum += mean;
    return sum * batch.nats;
}

}  // namespace fovea::runtime
