// Programs for aarch64 on other machines, where a cross compiler and qemu are installed.
#pragma once

#include <string>
#include <vector>

#include "tests/required.h"

namespace fovea::test {

inline const std::vector<std::string> kEmulated = {"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"};

inline bool can_compile() { return has("aarch64-linux-gnu-g++"); }
inline bool can_run() { return can_compile() && has("qemu-aarch64"); }

inline tool::ProcessResult run_emulated(std::vector<std::string> command) {
    command.insert(command.begin(), kEmulated.begin(), kEmulated.end());
    return tool::run_process(command);
}

}  // namespace fovea::test
