// Where the vertices of a layered drawing stand in their layers (Brandes and Köpf 2001, "Fast and
// simple horizontal coordinate assignment"): long edges are upright.
#pragma once

#include <vector>

namespace fovea::tool {

/// A vertex of a layer: an item, or where a long edge passes.
struct ColumnVertex {
    double width = 0;
    bool passes = false;
};

/// An edge from a layer to the next, from a point to a point, both counted from the left of their
/// vertices.
struct ColumnEdge {
    int from = 0, to = 0;
    double from_x = 0, to_x = 0;
};

/// The left side of each vertex. Those of a layer keep their order, at least `gap` apart.
std::vector<double> assign_columns(const std::vector<ColumnVertex>& vertices,
                                   const std::vector<std::vector<int>>& layers,
                                   const std::vector<ColumnEdge>& edges, double gap);

}  // namespace fovea::tool
