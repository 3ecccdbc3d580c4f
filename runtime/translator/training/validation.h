// How well a model does on sentence pairs by teacher forcing.
#pragma once

#include <cstdint>
#include <span>

#include "../../instance.h"
#include "../../text/batches.h"

namespace fovea::runtime {

struct Score {
    double loss = 0;      // mean cross entropy per target token, in nats
    double accuracy = 0;  // the share of target tokens that were the likeliest
    std::int64_t tokens = 0;
};

/// Runs `instance`, a program `evaluate`, over the `chosen` examples, `batch` at a time.
Score score_examples(Instance& instance, const Examples& examples,
                     std::span<const std::uint32_t> chosen, std::size_t batch);

}  // namespace fovea::runtime
