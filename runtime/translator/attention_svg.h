// Attention weights as a picture.
#pragma once

#include <string>
#include <vector>

#include "attention_maps.h"

namespace fovea::runtime {

/// An SVG page: a row of panels for each module, a panel for each head, dark where the weight is 1.
/// Queries run down, keys to the right; a cell tells its weight when pointed at.
std::string attention_svg(const std::vector<AttentionMap>& maps, const MapTokens& tokens);

}  // namespace fovea::runtime
