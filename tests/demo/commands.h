// Commands in a folder of the tests of built programs, and what they leave there.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fovea::test {

namespace fs = std::filesystem;

inline const fs::path kSource = FOVEA_SOURCE_DIR, kBinary = FOVEA_BINARY_DIR;
inline const fs::path kCorpus = kSource / "models/transformer/corpus.tsv";

/// A folder under the build folder.
struct Folder {
    fs::path path;

    explicit Folder(const std::string& name) : path(kBinary / name) {
        fs::create_directories(path);
    }
    void run(const std::string& command) const {
        INFO(command);
        REQUIRE(std::system(("cd '" + path.string() + "' && " + command).c_str()) == 0);
    }
    void build(const std::string& model, const std::string& options) const {
        run("'" + (kBinary / "fovea").string() + "' build " + model + " " + options);
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path / name, std::ios::binary);
        REQUIRE_MESSAGE(file.good(), name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    /// What `command` prints.
    std::vector<std::string> lines_of(const std::string& command) const {
        run(command + " > lines");
        std::vector<std::string> lines;
        std::istringstream text(read("lines"));
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }
};

}  // namespace fovea::test
