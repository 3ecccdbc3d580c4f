// Images of PPM and PGM files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::runtime {

/// An image of bytes: [height, width, channels].
struct Pixmap {
    std::int64_t width = 0, height = 0, channels = 0;
    std::vector<std::uint8_t> values;
};

/// The image of a binary PPM (P6, 3 channels) or PGM (P5, 1 channel) file whose samples go to 255.
/// UserError with the path where it is none such, where a side is longer than 65535, or where its
/// bytes are not as many as its size says.
Pixmap read_pixmap(const std::string& path);

}  // namespace fovea::runtime
