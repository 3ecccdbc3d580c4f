// Calls of build/fovea in a folder of their own.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/random_seed.h"
#include "tools/fovea/process.h"

namespace fovea::test {

/// `fovea` with these arguments; `environment` as NAME=VALUE.
inline tool::ProcessResult run_fovea(std::vector<std::string> arguments,
                                     std::vector<std::string> environment = {}) {
    std::vector<std::string> command;
    if (!environment.empty()) {
        command.push_back("env");
        command.insert(command.end(), environment.begin(), environment.end());
    }
    command.push_back(FOVEA_BINARY_DIR "/fovea");
    command.insert(command.end(), arguments.begin(), arguments.end());
    return tool::run_process(command);
}

/// The environment of commands that compile what is asked for its values alone: a compiler that
/// does not optimize takes a third of its time. As it is shipped where FOVEA_WHOLE is set.
inline std::string value_flags() {
    return std::string("FOVEA_CXXFLAGS=") + (takes_all() ? "" : "-O0");
}

inline std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fovea::test
