// How images become the numbers that a model reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pixmap.h"
#include "resize_image.h"

namespace fovea::runtime {

/// What `preprocessor_config.json` of a checkpoint says of images, by its names: a sample x of
/// channel c becomes (x · rescale_factor - image_mean[c]) / image_std[c].
struct ImageSettings {
    bool do_resize = true;
    std::int64_t width = 0, height = 0;  // 0: those of the model
    Resampling resampling = Resampling::bilinear;
    double rescale_factor = 1.0 / 255;
    std::vector<double> image_mean = {0.5}, image_std = {0.5};  // of each channel, or one for all
};

/// Those of the folder of a checkpoint; the defaults where `weights` is none, or has no such file.
/// UserError with the file and the field for what is not right, or not done here.
ImageSettings image_settings_beside(const std::string& weights);

/// What the pixels of a model are: channels, height and width.
using ImageShape = std::array<std::int64_t, 3>;

/// Appends the image as the model reads it, [channels, height, width], resized where the settings
/// allow it. `path` is for messages. UserError where the image does not fit the model.
void append_pixels(std::vector<float>& pixels, const Pixmap& image, const ImageSettings& settings,
                   const ImageShape& shape, const std::string& path);

}  // namespace fovea::runtime
