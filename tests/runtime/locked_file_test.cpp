// Files that one holder at a time has.
#include "runtime/files/locked_file.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <fstream>

#include "tests/runtime/temporary_folder.h"

using namespace fovea::runtime;
using fovea::test::TemporaryFolder;

TEST_CASE("locked files: a held one is refused, one that was left is replaced") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a");
    std::ofstream(path) << "left";
    {
        const Descriptor held = create_locked_file(path, 0600, false);
        REQUIRE(held.is_open());
        CHECK(std::filesystem::file_size(path) == 0);
        const Descriptor second = create_locked_file(path, 0600, false);
        CHECK_FALSE(second.is_open());
        CHECK(errno == EWOULDBLOCK);
    }
    CHECK(create_locked_file(path, 0600, false).is_open());
    CHECK_FALSE(create_locked_file(folder.file("no/file"), 0600, false).is_open());
    CHECK(errno == ENOENT);
}
