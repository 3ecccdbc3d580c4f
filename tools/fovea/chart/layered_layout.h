// Layered drawings of directed graphs (Sugiyama, Tagawa and Toda 1981): arrows run down, those of
// gradients up.
#pragma once

#include <vector>

#include "tools/fovea/chart/svg.h"

namespace fovea::tool {

/// A box to be placed.
struct LayoutItem {
    double width = 0, height = 0;
    enum class Rank { first, any, last } rank = Rank::any;  // the uppermost and lowest layer
    enum class Side { left, middle, right } side = Side::middle;  // of its layer
};

/// An arrow, from a point of the lower side of one item to one of the upper side of another, both
/// counted from the left of the item. One that runs up goes from an upper to a lower side.
struct LayoutEdge {
    int from = 0, to = 0;
    double from_x = 0, to_x = 0;
    bool up = false;
    bool hidden = false;  // not drawn: `from` is above `to`, or below what it runs up to
};

struct Layout {
    std::vector<Point> corners;              // the upper left one of each item
    std::vector<std::vector<Point>> routes;  // of each edge, from its start to its end
    double width = 0, height = 0;
};

/// The gaps leave room for a line of words below an item and for lines that pass by.
struct LayoutGaps {
    double across = 18, down = 32;
};

/// Items on layers below those that they depend on, ordered so that few arrows cross and placed
/// near their neighbours; where some run up, the others pass on the left of what is in the middle.
/// Of a cycle, one arrow runs the other way.
Layout lay_out(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
               const LayoutGaps& gaps = {});

}  // namespace fovea::tool
