// The cross entropy of texts, piece by piece.
#pragma once

#include <cstdint>
#include <span>

#include "../session.h"
#include "text_sizes.h"

namespace fovea::runtime {

/// Nats of so many tokens together.
struct Score {
    double nats = 0;
    std::int64_t tokens = 0;
};

/// The program `score` of a model: inputs `ids`, `labels` i32 [batch, len], and `lens` [batch]
/// where attention reads lengths; output `nats` [batch, len], the cross entropy of each label.
class TextScorer {
  public:
    /// UserError where the model has no such program.
    TextScorer(const Model& model, Parameters& parameters);

    /// Each token behind the first, by those before it: at most `window` of them, since a text is
    /// cut into pieces of so many, whose last token is the first of the next.
    Score score(std::span<const std::int32_t> text, std::int64_t window);

  private:
    double nats_of(std::span<const std::int32_t> piece);

    Instance instance_;
    TextSizes sizes_;
};

}  // namespace fovea::runtime
