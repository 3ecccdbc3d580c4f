// Places for the labels of points, so that none covers another label or a point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/fovea/chart/svg.h"

namespace fovea::tool {

/// A label of a point; the box is filled in.
struct Label {
    Point point;
    std::string words;
    Box box{};
};

/// Puts every label as near to its point as there is room in `area`: beside it first, then on
/// growing circles around it. `taken` are boxes that stay free. Labels in crowded places are placed
/// first; what finds no room anywhere gets the place that covers the least.
void place_labels(std::vector<Label>& labels, const Box& area, const std::vector<Box>& taken,
                  double size);

/// The line from a point to its label, where that does not stand right beside it.
void draw_leader(Svg& svg, const Label& label, std::string_view colour);

/// The words of a label, set flush on the side of the point.
void draw_words(Svg& svg, const Label& label, double size, std::string_view colour);

}  // namespace fovea::tool
