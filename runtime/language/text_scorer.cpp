#include "text_scorer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../error.h"

namespace fovea::runtime {

TextScorer::TextScorer(const Model& model, Parameters& parameters)
    : instance_(model, "score", parameters), sizes_(model, instance_.program()) {
    for (const TensorSpec& input : instance_.program().inputs)
        if (input.name != "ids" && input.name != "labels" && input.name != "lens")
            throw UserError("{} cannot be scored on texts: its logits read '{}', too",
                            {model.name, input.name});
}

Score TextScorer::score(std::span<const std::int32_t> text, std::int64_t window) {
    Score all;
    const auto count = static_cast<std::int64_t>(text.size()) - 1;
    for (std::int64_t first = 0; first < count; first += window) {
        const std::int64_t length = std::min(window, count - first);
        all.nats += nats_of(
            text.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length + 1)));
        all.tokens += length;
    }
    return all;
}

/// Of the tokens behind the first.
double TextScorer::nats_of(std::span<const std::int32_t> piece) {
    const auto length = static_cast<std::int64_t>(piece.size()) - 1;
    instance_.bind(sizes_.of_text(length));
    std::copy(piece.begin(), piece.end() - 1, instance_.input<std::int32_t>("ids"));
    std::copy(piece.begin() + 1, piece.end(), instance_.input<std::int32_t>("labels"));
    if (instance_.has_input("lens"))
        *instance_.input<std::int32_t>("lens") = static_cast<std::int32_t>(length);
    instance_.run();
    const std::span<const float> nats = instance_.output_values("nats");
    const double sum = std::accumulate(nats.begin(), nats.end(), 0.0);
    if (!std::isfinite(sum))
        throw UserError(
            "the score of a text is not finite: a weight of the model is not, or is very large");
    return sum;
}

}  // namespace fovea::runtime
