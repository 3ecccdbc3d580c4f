// Which values of a scan's step are stored for its backward step, and which are computed again.
#pragma once

#include <string_view>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// Over the nodes of a step with its gradient.
struct SavedValues {
    std::vector<bool> needed;  // by the backward step, those that it reads included
    std::vector<bool> read;    // of the forward step's, from memory: stored, or a state after it
    std::vector<int> stored;   // those that the forward scan must give besides its states
};

/// What the outputs `wanted` of `step` need: elementwise values and views of the forward step are
/// computed again, products with what is added to them, sums, softmaxes and the like are stored;
/// so are gates, and other exponentials that have no more elements than what they are made of.
SavedValues saved_values(const Graph& step, const std::vector<std::string_view>& wanted);

}  // namespace fovea
