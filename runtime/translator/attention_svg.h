// Attention weights as a picture.
#pragma once

#include <string>
#include <vector>

#include "attention_maps.h"

namespace fovea::runtime {

/// The tokens beside the maps' axes.
struct MapTokens {
    std::vector<std::string> source;    // read by the encoder
    std::vector<std::string> read;      // by the decoder: `<bos>` first
    std::vector<std::string> produced;  // by the decoder
};

/// An SVG page: a row of panels for each module, a panel for each head, dark where the weight is 1.
/// Queries run down, keys to the right; a cell tells its weight when pointed at.
std::string attention_svg(const std::vector<AttentionMap>& maps, const MapTokens& tokens);

}  // namespace fovea::runtime
