// The training step as the d2l chapters have it: the sum of the losses is differentiated, the
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
    const Examples& examples = training_.data.examples;
    const std::uint64_t step = training_.position.step;
    const auto batches = static_cast<std::uint64_t>(settings.accumulate);
    const auto most = static_cast<std::size_t>(settings.batch);
    StepResult result;
    for (std::uint64_t number = step * batches; !chosen.empty(); ++number) {
        const std::span<const std::uint32_t> batch = chosen.first(std::min(most, chosen.size()));
        chosen = chosen.subspan(batch.size());
        const LoadedBatch loaded = load_batch(step_.instance(), examples, batch);
        // The loss to differentiate is the mean over all steps; the program takes that over fewer.
        const bool is_mean = step_.instance().has_input("tgt_lens");
        const double share = is_mean ? double(loaded.loss_steps) / double(examples.steps) : 1;
        if (chosen.empty()) {
            const StepOutcome outcome =
                step_.run(settings.seed, number,
                          {.learning_rate = settings.learning_rate.at(step + 1),
                           .clip = settings.clip,
                           .gradient_scale = share});
            if (!outcome.moved) refuse_infinite_loss();
            result.gradient_norm = outcome.gradient_norm;
        } else {
            step_.accumulate(settings.seed, number, share);
        }
        result.tokens += loaded.tokens;
        result.loss_sum += total_loss(step_.instance().output_values("loss"), loaded.loss_steps);
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

double total_loss(std::span<const float> loss, std::size_t steps) {
    double sum = 0;
    for (const float mean : loss) sum += mean;
    return sum * static_cast<double>(steps);
}

LoadedBatch load_batch(Instance& instance, const Examples& examples,
                       std::span<const std::uint32_t> chosen) {
    const BatchSteps steps = needed_steps(examples, chosen);
    instance.bind({{"batch", static_cast<std::int64_t>(chosen.size())},
                   {"src_len", static_cast<std::int64_t>(steps.source)},
                   {"tgt_len", static_cast<std::int64_t>(steps.target)}});
    const auto input = [&](const char* name) {
        return instance.has_input(name) ? instance.input<std::int32_t>(name) : nullptr;
    };
    const std::int64_t tokens = fill_batch(
        examples, chosen,
        {steps, input("src"), input("src_lens"), input("tgt"), input("labels"), input("tgt_lens")});
    return {tokens, steps.target, instance.has_input("tgt_lens") ? steps.target : 1};
}

}  // namespace fovea::runtime
