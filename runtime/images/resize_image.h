// Images of another size.
#pragma once

#include <cstdint>

#include "pixmap.h"

namespace fovea::runtime {

/// How a pixel of a resized image weighs those that it covers: triangles, or cubics with a = -0.5.
enum class Resampling { bilinear, bicubic };

/// The whole image, stretched to other sides, to the very bytes of Image.resize of Pillow 11: first
/// along rows, then along columns, wider kernels where it shrinks, weights of 22 bits, rounded to
/// bytes after each pass. (Pillow 13 takes columns first where that is less work, which rounds
/// otherwise.) Sides are from 1.
Pixmap resize_image(const Pixmap& image, std::int64_t width, std::int64_t height,
                    Resampling resampling);

}  // namespace fovea::runtime
