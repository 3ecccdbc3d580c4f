// The schedules by their formulas.
#include "learning_rate.h"

#include <algorithm>
#include <cmath>

#include "portable_math.h"

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
    // Half a turn is where the cosine is least.
    const double cosine = done < 1 ? sine_cosine_of_turn(0.5 * done).cosine : -1;
    return rate * 0.5 * (1 + cosine);
}

}  // namespace fovea::runtime
