// The schedules by their formulas.
#include "learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fovea::runtime {

std::string name_of(Schedule schedule) {
    switch (schedule) {
        case Schedule::constant: return "constant";
        case Schedule::cosine: return "cosine";
        case Schedule::paper: return "paper";
    }
    return "";
}

double LearningRate::at(std::uint64_t step) const {
    const auto number = static_cast<double>(step), warm = static_cast<double>(warmup);
    if (schedule == Schedule::paper)
        return rate / std::sqrt(width) *
               std::min(1 / std::sqrt(number), number / (warm * std::sqrt(warm)));
    if (step <= warmup) return rate * number / warm;
    if (schedule == Schedule::constant) return rate;
    const double done = (number - warm) / (static_cast<double>(total) - warm);
    return rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
}

}  // namespace fovea::runtime
