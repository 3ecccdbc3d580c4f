// The training step as the d2l chapters have it: the sum of the losses is differentiated, the
// gradient is clipped by its global norm, and Adam moves the parameters.
#include "trainer.h"

#include <cmath>
#include <string>

#include "../error.h"

namespace fovea::runtime {

Trainer::Trainer(const Model& model, Training& training)
    : training_(training),
      instance_(model, "training_step", training.parameters),
      gradients_(training.parameters.flat_size() * sizeof(float)) {
    for (std::size_t i = 0; i < training.parameters.count(); ++i) {
        instance_.place_output(model.parameters[i].name + ".grad",
                               gradients().data() + training.parameters.offset(i));
    }
}

StepResult Trainer::step(std::span<const std::uint32_t> chosen) {
    const Examples& examples = training_.data.examples;
    StepResult result;
    const LoadedBatch batch = load_batch(instance_, examples, chosen);
    instance_.run(training_.settings.seed, training_.position.step);
    result.tokens = batch.tokens;
    result.loss_sum =
        total_loss({instance_.output<float>("loss"), chosen.size()}, batch.target_steps);
    // The loss to differentiate is the mean over all steps; the program took that over fewer.
    const double share = double(batch.target_steps) / double(examples.steps);
    result.gradient_norm = gradient_norm(gradients()) * share;
    if (!std::isfinite(result.loss_sum) || !std::isfinite(result.gradient_norm)) {
        throw UserError("the loss is no longer finite at step " +
                        std::to_string(training_.position.step + 1) + " (epoch " +
                        std::to_string(training_.position.epoch + 1) +
                        "); train again with a smaller --lr");
    }
    training_.adam.update(training_.parameters.flat(), gradients(),
                          training_.settings.learning_rate,
                          share * clip_scale(result.gradient_norm, training_.settings.clip));
    instance_.parameters_changed();
    return result;
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
