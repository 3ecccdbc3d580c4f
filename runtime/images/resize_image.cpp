#include "resize_image.h"

#include <algorithm>
#include <cmath>

namespace fovea::runtime {

namespace {

constexpr int kBitsOfWeights = 22;

struct ResampleKernel {
    double (*weight)(double distance);
    double support;  // how far it reaches
};

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x) {
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// What one pixel of a line is made of: the weights of the pixels from `first` on.
struct PixelWeights {
    std::int64_t first = 0;
    std::vector<std::int32_t> weights;
};

PixelWeights weights_of_pixel(std::int64_t i, double scale, std::int64_t old_count,
                              const ResampleKernel& kernel) {
    const double wider = std::max(scale, 1.0), reach = kernel.support * wider;
    const double center = (double(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, std::int64_t(std::llround(center - reach)));
    const auto end = std::min(old_count, std::int64_t(std::llround(center + reach)));
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t at = first; at < end; ++at) {
        weights.push_back(kernel.weight((double(at) - center + 0.5) * (1 / wider)));
        sum += weights.back();
    }
    PixelWeights result{first, {}};
    for (double weight : weights) {
        if (sum != 0) weight /= sum;
        weight *= 1 << kBitsOfWeights;
        result.weights.push_back(std::int32_t(std::lround(weight)));
    }
    return result;
}

std::vector<PixelWeights> weights_of_line(std::int64_t count, std::int64_t old_count,
                                          const ResampleKernel& kernel) {
    const double scale = double(old_count) / double(count);
    std::vector<PixelWeights> line;
    for (std::int64_t i = 0; i < count; ++i)
        line.push_back(weights_of_pixel(i, scale, old_count, kernel));
    return line;
}

/// The sum of samples that lie `stride` apart, from that of the first pixel on.
std::uint8_t weighted_sample(const std::uint8_t* first, std::int64_t stride,
                             const PixelWeights& pixel) {
    std::int64_t sum = 1 << (kBitsOfWeights - 1);
    first += pixel.first * stride;
    for (const std::int32_t weight : pixel.weights) {
        sum += std::int64_t(*first) * weight;
        first += stride;
    }
    return std::uint8_t(std::clamp<std::int64_t>(sum >> kBitsOfWeights, 0, 255));
}

Pixmap resize_rows(const Pixmap& image, std::int64_t width, const ResampleKernel& kernel) {
    Pixmap result{width, image.height, image.channels, {}};
    const std::vector<PixelWeights> line = weights_of_line(width, image.width, kernel);
    result.values.reserve(std::size_t(width * image.height * image.channels));
    for (std::int64_t y = 0; y < image.height; ++y) {
        const std::uint8_t* row = image.values.data() + y * image.width * image.channels;
        for (const PixelWeights& pixel : line)
            for (std::int64_t c = 0; c < image.channels; ++c)
                result.values.push_back(weighted_sample(row + c, image.channels, pixel));
    }
    return result;
}

Pixmap resize_columns(const Pixmap& image, std::int64_t height, const ResampleKernel& kernel) {
    Pixmap result{image.width, height, image.channels, {}};
    const std::int64_t row = image.width * image.channels;
    result.values.reserve(std::size_t(row * height));
    for (const PixelWeights& pixel : weights_of_line(height, image.height, kernel))
        for (std::int64_t i = 0; i < row; ++i)
            result.values.push_back(weighted_sample(image.values.data() + i, row, pixel));
    return result;
}

}  // namespace

Pixmap resize_image(const Pixmap& image, std::int64_t width, std::int64_t height,
                    Resampling resampling) {
    const ResampleKernel kernel =
        resampling == Resampling::bilinear ? ResampleKernel{triangle, 1} : ResampleKernel{cubic, 2};
    Pixmap result = width == image.width ? image : resize_rows(image, width, kernel);
    return height == image.height ? result : resize_columns(result, height, kernel);
}

}  // namespace fovea::runtime
