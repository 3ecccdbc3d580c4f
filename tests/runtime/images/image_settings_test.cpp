// What checkpoints say of images, and the numbers that models read.
#include "runtime/images/image_settings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "runtime/error.h"
#include "runtime/images/class_names.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

namespace {

/// What `read` says of a folder that has `text` in the file `name`.
template <class Read>
std::string said_of_file(const char* name, const std::string& text, const Read& read) {
    const TemporaryFolder folder;
    const std::string path = folder.file(name);
    std::ofstream(path) << text;
    try {
        read(path.substr(0, path.rfind('/')));
    } catch (const UserError& error) {
        const std::string said = error.what();
        return said.starts_with("'" + path + "'") ? said.substr(path.size() + 2) : said;
    }
    return "nothing";
}

std::string said_of_settings(const std::string& text) {
    return said_of_file("preprocessor_config.json", text, image_settings_beside);
}

std::string said_of_names(const std::string& text) {
    return said_of_file("config.json", text, class_names_beside);
}

std::string said_of_pixels(const Pixmap& image, const ImageSettings& settings) {
    try {
        std::vector<float> pixels;
        append_pixels(pixels, image, settings, {3, 2, 2}, "x.ppm");
    } catch (const UserError& error) {
        return error.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("settings of images are those of the folder, else the usual ones") {
    const TemporaryFolder folder;
    const std::string path = folder.file("preprocessor_config.json");
    const std::string place = path.substr(0, path.rfind('/'));
    CHECK(image_settings_beside(place).rescale_factor == 1.0 / 255);
    CHECK(image_settings_beside(place).image_mean == std::vector<double>{0.5});
    std::ofstream(path) << R"({"size": {"height": 20, "width": 30}, "resample": 3,
        "rescale_factor": 0.25, "image_mean": [0, 1, 2], "image_std": 4, "do_center_crop": null})";
    const ImageSettings settings = image_settings_beside(place);
    CHECK(settings.height == 20);
    CHECK(settings.width == 30);
    CHECK(settings.resampling == Resampling::bicubic);
    std::vector<float> pixels;
    append_pixels(pixels, {30, 20, 3, std::vector<std::uint8_t>(1800, 8)}, settings, {3, 20, 30},
                  "x.ppm");
    CHECK(pixels.size() == 1800);
    CHECK(pixels[0] == 0.5f);
    CHECK(pixels[600] == 0.25f);
    CHECK(pixels[1200] == 0.0f);
    std::ofstream(path) << R"({"size": 20, "do_rescale": false, "do_normalize": false})";
    const ImageSettings plain = image_settings_beside(place);
    CHECK(plain.height == 20);
    CHECK(plain.rescale_factor == 1);
    CHECK(plain.image_mean == std::vector<double>{0});
}

TEST_CASE("what is wrong with settings of images, or not done, is said") {
    CHECK(said_of_settings("{}") == "nothing");
    CHECK(said_of_settings("[]") == " should be a JSON object, but is of kind array");
    CHECK(said_of_settings(R"({"do_resize": 1})") == ": do_resize should be true or false, not 1");
    CHECK(said_of_settings(R"({"size": {"shortest_edge": 224}})") ==
          ": size should be a number from 1, or have height and width, not "
          "{\"shortest_edge\":224}");
    CHECK(said_of_settings(R"({"do_center_crop": true})") ==
          ": do_center_crop should be false: images are not cropped here, not true");
    CHECK(said_of_settings(R"({"resample": 0})") ==
          ": resample should be 2 (bilinear) or 3 (bicubic), not 0");
    CHECK(said_of_settings(R"({"rescale_factor": "x"})") ==
          ": rescale_factor should be a number, not \"x\"");
    CHECK(said_of_settings(R"({"image_mean": []})") ==
          ": image_mean should be a list of numbers, not []");
    CHECK(said_of_settings(R"({"image_std": [0.5, 0, 0.5]})") ==
          ": image_std should not be 0: values are divided by it, not [0.5,0,0.5]");
    const Pixmap image{2, 2, 3, std::vector<std::uint8_t>(12)};
    CHECK(said_of_pixels(image, {}) == "nothing");
    CHECK(said_of_pixels({2, 2, 1, {0, 0, 0, 0}}, {}) ==
          "'x.ppm' has 1 channels, but the model reads 3");
    CHECK(said_of_pixels(image, {.width = 4, .height = 3}) ==
          "preprocessor_config.json has size 4 x 3, but the model reads 2 x 2");
    CHECK(said_of_pixels(image, {.image_mean = {1, 2}}) ==
          "image_mean of preprocessor_config.json has 2 numbers, but the model has 3 channels");
    const Pixmap other{3, 1, 3, std::vector<std::uint8_t>(9)};
    CHECK(said_of_pixels(other, {}) == "nothing");
    CHECK(said_of_pixels(other, {.do_resize = false}) ==
          "'x.ppm' has 3 x 1 pixels, but the model reads 2 x 2, and preprocessor_config.json says "
          "do_resize = false: resize it first");
}

TEST_CASE("names of classes are those of config.json") {
    CHECK(said_of_names("{}") == "nothing");
    CHECK(said_of_names(R"({"id2label": {"0": "cat", "7": "dog"}})") == "nothing");
    CHECK(said_of_names(R"({"id2label": ["cat"]})") ==
          ": id2label should have a text for each number, not [\"cat\"]");
    CHECK(said_of_names(R"({"id2label": {"0": 3}})") ==
          ": id2label should have a text for each number, not '0': 3");
    CHECK(said_of_names(R"({"id2label": {"a": "b"}})") ==
          ": id2label should have a text for each number, not 'a': \"b\"");
}
