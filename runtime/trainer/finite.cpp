// A look at every value.
#include "finite.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace fovea::runtime {

namespace {

bool is_finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

std::string first_not_finite(Parameters& parameters) {
    for (std::size_t i = 0; i < parameters.count(); ++i)
        if (!is_finite(parameters.values(i))) return parameters.model().parameters[i].name;
    return {};
}

std::string first_not_finite(Optimizer& optimizer) {
    for (const OptimizerState& state : optimizer.state())
        if (!is_finite(state.flat)) return state.name;
    return {};
}

void verify_finite(Parameters& parameters, const std::string& path) {
    const std::string name = first_not_finite(parameters);
    if (name.empty()) return;
    throw UserError("'" + path + "' holds values that are not finite, the first in '" + name +
                    "': they are of a training that diverged; train again with a smaller --lr");
}

}  // namespace fovea::runtime
