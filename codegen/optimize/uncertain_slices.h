// Slices whose sizes may not fit: positions of a table of 512, as many as a sequence is long.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// `size` positions from `first` on, of `extent`.
struct UncertainSlice {
    Dim first{}, size{}, extent{};
    std::string place{};  // model.cpp:12
};

/// Those of a graph and of the steps of its scans that do not lie within their axes for all sizes,
/// each once. What reads outside of them reads other values, or no memory of the program.
std::vector<UncertainSlice> uncertain_slices(const Graph& graph);

}  // namespace fovea
