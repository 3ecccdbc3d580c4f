// Work in a process of its own, so that a crash or a hang is an answer, too.
#pragma once

#include <functional>
#include <string>

namespace fovea::tool::fuzz {

/// How long a child process may take: of the cores, where other processes do not count, and in
/// all.
struct MostSeconds {
    int of_cores = 0, in_all = 0;
};

/// What a child process said, or how it ended.
struct Apart {
    bool answered = false;
    std::string answer;  // of `work`
    std::string end;  // `ended by signal 11`, `took longer than 60 s of the cores`
};

/// Runs `work` in a copy of this process.
Apart run_apart(const std::function<std::string()>& work, MostSeconds most);

}  // namespace fovea::tool::fuzz
