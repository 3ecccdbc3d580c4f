// The training step as the d2l chapters have it: the sum of the losses is differentiated, the
// gradient is clipped by its global norm, and the optimizer moves the parameters.
#include "trainer.h"

#include <string>

#include "../error.h"

namespace fovea::runtime {

Trainer::Trainer(const Model& model, Training& training)
    : training_(training), step_(model, training.parameters, training.optimizer) {}

StepResult Trainer::step(std::span<const std::uint32_t> chosen) {
    const Examples& examples = training_.data.examples;
    const LoadedBatch batch = load_batch(step_.instance(), examples, chosen);
    // The loss to differentiate is the mean over all steps; the program takes that over fewer.
    const double share = double(batch.target_steps) / double(examples.steps);
    const StepOutcome outcome = step_.run(training_.settings.seed, training_.position.step,
                                          {.learning_rate = training_.settings.learning_rate,
                                           .clip = training_.settings.clip,
                                           .gradient_scale = share});
    if (!outcome.moved) {
        throw UserError("the loss is no longer finite at step " +
                        std::to_string(training_.position.step + 1) + " (epoch " +
                        std::to_string(training_.position.epoch + 1) +
                        "); train again with a smaller --lr");
    }
    return {total_loss(step_.instance().output_values("loss"), batch.target_steps), batch.tokens,
            outcome.gradient_norm};
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
    const std::int64_t tokens = fill_batch(
        examples, chosen,
        {steps, instance.input<std::int32_t>("src"), instance.input<std::int32_t>("src_lens"),
         instance.input<std::int32_t>("tgt"), instance.input<std::int32_t>("labels"),
         instance.input<std::int32_t>("tgt_lens")});
    return {tokens, steps.target};
}

}  // namespace fovea::runtime
