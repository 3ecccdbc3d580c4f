// Images of files: what is read, and what is said of files that are not whole.
#include "runtime/images/pixmap.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "runtime/error.h"
#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

namespace {

Pixmap pixmap_of(const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("image"), std::ios::binary) << text;
    return read_pixmap(folder.file("image"));
}

/// What is said of a file, behind its name.
std::string said_of_image(const std::string& text) {
    try {
        pixmap_of(text);
    } catch (const UserError& error) {
        const std::string said = error.what();
        return said.substr(said.find("image'") + 7);
    }
    return "nothing";
}

}  // namespace

TEST_CASE("images of bytes are read, with comments between their numbers") {
    const Pixmap image = pixmap_of("P6\n# a comment\n2 1 #another\n255\nabc\n\xff#");
    CHECK(image.width == 2);
    CHECK(image.height == 1);
    CHECK(image.channels == 3);
    CHECK(image.values == std::vector<std::uint8_t>{'a', 'b', 'c', '\n', 255, '#'});
    CHECK(pixmap_of("P5 1 2 255 ab").channels == 1);
}

TEST_CASE("what is wrong with an image is said with its file") {
    const std::string no_image =
        "is no image that is read here: a binary PPM starts with P6, a binary PGM with P5 (`magick "
        "IMAGE -depth 8 IMAGE.ppm` makes one)";
    for (const char* text : {"", "P", "P3 1 1 255 1 2 3", "\x89PNG\r\n"})
        CHECK(said_of_image(text) == no_image);
    CHECK(said_of_image("P6") == "is no whole image: its width is missing, behind 2 bytes");
    CHECK(said_of_image("P6 # 4 4") == "is no whole image: its width is missing, behind 8 bytes");
    CHECK(said_of_image("P6 4 x") == "is no whole image: its height is missing, behind 5 bytes");
    CHECK(said_of_image("P6 4 -4 255 ") ==
          "is no whole image: its height is missing, behind 5 bytes");
    CHECK(said_of_image("P6 0 4 255 ") == "has a width that is not from 1 to 65535");
    CHECK(said_of_image("P6 4 65536 255 ") == "has a height that is not from 1 to 65535");
    CHECK(said_of_image("P6 99999999999999999999999999 4 255 ") ==
          "has a width that is not from 1 to 65535");
    CHECK(said_of_image("P6 1 1 65535 abcdef") ==
          "has samples from 0 to 65535; those from 0 to 255 are read");
    CHECK(said_of_image("P6 1 1 255") ==
          "is no whole image: its numbers should end with one blank");
    CHECK(said_of_image("P6 1 1 255 ab") == "should have 3 bytes of pixels, 1 x 1 x 3, but has 2");
    CHECK(said_of_image("P6 1 1 255 abcd") ==
          "should have 3 bytes of pixels, 1 x 1 x 3, but has 4");
    CHECK(said_of_image("P6 65535 65535 255 ab") ==
          "should have 12884508675 bytes of pixels, 65535 x 65535 x 3, but has 2");
    CHECK_THROWS_AS(read_pixmap("/no/such/image.ppm"), UserError);
}
