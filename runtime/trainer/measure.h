// How well a model does on examples by teacher forcing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "training_data.h"

namespace fovea::runtime {

struct Measured {
    double loss = 0;      // mean cross entropy of a token, in nats
    std::optional<double> accuracy = {};  // the share of tokens that were the likeliest
    std::int64_t tokens = 0;
};

/// Runs `instance`, a program that measures, over the `chosen` examples, `batch` at a time. There
/// is an accuracy where it has `logits`.
Measured measure(Instance& instance, const TrainingData& data,
                 std::span<const std::uint32_t> chosen, std::size_t batch);

}  // namespace fovea::runtime
