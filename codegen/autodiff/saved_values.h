// Which values of a scan's step are saved for its backward step, and which are rematerialised.
#pragma once

#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// Over the nodes of a step with its gradient.
struct SavedValues {
    std::vector<bool> needed;  // by the backward step, those that it reads included
    std::vector<bool> read;    // of the forward step's, from memory: stored, or a state after it
    std::vector<int> stored;   // those that the forward scan must give besides its states
};

/// For the outputs `wanted` of `step`: elementwise values and views of the forward step are
/// rematerialised; products with their biases, sums and softmaxes are saved, and so are gates and
/// other exponentials that have no more elements than their operands.
SavedValues saved_values(const Graph& step, const std::vector<Port>& wanted);

}  // namespace fovea
