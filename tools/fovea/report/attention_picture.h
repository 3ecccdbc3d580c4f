// Attention maps that a built program wrote, for the report.
#pragma once

#include <string>

namespace fovea::tool {

/// A picture of attention weights.
struct AttentionPicture {
    std::string name, svg;  // name: of its file, without its folders
};

/// Draws the maps of a safetensors file, or takes the picture of an SVG file. UserError where the
/// file is neither, and for a picture with scripts or links: a page needs nothing from elsewhere.
AttentionPicture read_attention_picture(const std::string& path);

}  // namespace fovea::tool
