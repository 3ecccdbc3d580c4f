// Comparing text with a file of tests/golden; `test_<folder> --update` writes the files anew.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fovea::test {

/// Whether the program was called with --update.
bool updates_golden_files();

/// Checks that `text` is what the file tests/golden/`name` holds.
inline void check_golden(const std::string& name, const std::string& text) {
    const std::filesystem::path path =
        std::filesystem::path(FOVEA_SOURCE_DIR) / "tests/golden" / name;
    if (updates_golden_files()) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return;
    }
    std::ifstream file(path, std::ios::binary);
    INFO("tests/golden/", name, " (--update writes it anew)");
    REQUIRE_MESSAGE(file.good(), "the golden file is missing");
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    CHECK(expected == text);
}

}  // namespace fovea::test
