// Sums of losses and of tokens that were right, over batches.
#include "measure.h"

#include <algorithm>

#include "trainer.h"

namespace fovea::runtime {

namespace {

/// The tokens of a batch that have the largest logit of their step, the first of equals.
std::int64_t count_right(Instance& instance, const TrainingData& data,
                         std::span<const std::uint32_t> chosen, std::size_t steps) {
    const std::span<const float> logits =
        instance.output_values("logits");  // [batch, steps, words]
    const std::size_t words = logits.size() / std::max<std::size_t>(chosen.size() * steps, 1);
    const std::int32_t* labels = instance.input<std::int32_t>("labels");  // [batch, steps]
    std::int64_t right = 0;
    for (std::size_t row = 0; row < chosen.size(); ++row) {
        const auto length = static_cast<std::size_t>(data.tokens(chosen[row]));
        for (std::size_t step = 0; step < length; ++step) {
            const auto token = logits.subspan((row * steps + step) * words, words);
            const auto likeliest = std::max_element(token.begin(), token.end()) - token.begin();
            right += likeliest == labels[row * steps + step];
        }
    }
    return right;
}

}  // namespace

Measured measure(Instance& instance, const TrainingData& data,
                 std::span<const std::uint32_t> chosen, std::size_t batch) {
    const bool has_logits = instance.has_output("logits");
    Measured measured;
    double loss = 0;
    std::int64_t right = 0;
    while (!chosen.empty()) {
        const auto part = chosen.first(std::min(batch, chosen.size()));
        chosen = chosen.subspan(part.size());
        const LoadedBatch loaded = data.load(instance, part, part);
        instance.run();
        loss += total_loss(instance.output_values("loss"), loaded);
        if (has_logits) right += count_right(instance, data, part, loaded.steps);
        measured.tokens += loaded.tokens;
    }
    const auto tokens = static_cast<double>(std::max<std::int64_t>(measured.tokens, 1));
    measured.loss = loss / tokens;
    if (has_logits) measured.accuracy = static_cast<double>(right) / tokens;
    return measured;
}

}  // namespace fovea::runtime
