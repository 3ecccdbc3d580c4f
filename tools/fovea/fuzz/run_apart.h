// Work in a process of its own, so that a crash or a hang is an answer, too.
#pragma once

#include <functional>
#include <string>

namespace fovea::tool::fuzz {

/// What a child process said, or how it ended.
struct Apart {
    bool answered = false;
    std::string answer;  // of `work`
    std::string end;     // `ended by signal 11`, `took longer than 60 s`
};

/// Runs `work` in a copy of this process, for at most `seconds`.
Apart run_apart(const std::function<std::string()>& work, int seconds);

}  // namespace fovea::tool::fuzz
