// Resized images have the bytes of Pillow 11's.
#include "runtime/images/resize_image.h"

#include <doctest/doctest.h>

#include <vector>

using namespace fovea::runtime;

namespace {

Pixmap pattern(std::int64_t width, std::int64_t height) {
    Pixmap image{width, height, 3, {}};
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x)
            for (std::int64_t c = 0; c < 3; ++c)
                image.values.push_back(std::uint8_t(37 * x + 91 * y + 53 * c + 7 * x * y));
    return image;
}

/// The sum of all bytes, each times its place from 1.
std::int64_t sum_by_place(const Pixmap& image) {
    std::int64_t sum = 0, place = 0;
    for (const std::uint8_t value : image.values) sum += ++place * value;
    return sum;
}

constexpr Resampling kBilinear = Resampling::bilinear, kBicubic = Resampling::bicubic;

}  // namespace

TEST_CASE("images are resized to the bytes of Pillow") {
    using Values = std::vector<std::uint8_t>;
    CHECK(resize_image(pattern(7, 5), 4, 3, kBilinear).values ==
          Values{60,  113, 161, 122, 145, 141, 117, 139, 163, 149, 125, 115,
                 145, 137, 113, 117, 126, 134, 130, 138, 147, 151, 127, 119,
                 101, 147, 138, 157, 134, 127, 144, 140, 133, 158, 129, 119});
    CHECK(resize_image(pattern(7, 5), 3, 2, kBicubic).values ==
          Values{102, 130, 141, 122, 132, 148, 136, 133, 127, 126, 137, 126, 140, 138, 136, 154,
                 132, 124});
    const Pixmap small = pattern(7, 5), large = pattern(80, 60);
    CHECK(sum_by_place(resize_image(small, 9, 5, kBilinear)) == 1231020);
    CHECK(sum_by_place(resize_image(small, 7, 11, kBicubic)) == 3592431);
    CHECK(sum_by_place(resize_image(large, 31, 29, kBilinear)) == 465486555);
    CHECK(sum_by_place(resize_image(large, 224, 20, kBilinear)) == 11559109078);
    CHECK(sum_by_place(resize_image(large, 33, 100, kBicubic)) == 6270701819);
    CHECK(resize_image(small, 7, 5, kBicubic).values == small.values);
}
