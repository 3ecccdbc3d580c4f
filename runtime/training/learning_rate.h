// Learning rates as a function of the step.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::runtime {

enum class Schedule {
    constant,  // the rate, after a linear warm-up
    cosine,    // after the warm-up falls by half a cosine to 0 (Loshchilov and Hutter 2017)
    paper,     // rate / √width · min(1 / √step, step / √warmup³) (Vaswani et al. 2017, 5.3)
};

/// `constant`, `cosine`, `paper`.
std::string name_of(Schedule schedule);

struct LearningRate {
    Schedule schedule = Schedule::constant;
    double rate = 0.005;          // the highest; of the paper's schedule a factor
    std::uint64_t warmup = 0;     // steps; at least 1 for the paper's
    std::uint64_t total = 0;      // steps after which the cosine is 0, above `warmup`
    double width = 0;             // of the model's vectors (paper's)

    /// The rate of step number `step`, which counts from 1.
    double at(std::uint64_t step) const;
};

}  // namespace fovea::runtime
