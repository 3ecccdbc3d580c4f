#include "tools/fovea/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>

namespace fovea::tool {

namespace {

std::mutex line_mutex;
bool is_shown = false;

}  // namespace

void Progress::show(std::string_view what) {
    static const bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (!is_terminal) return;
    const std::lock_guard lock(line_mutex);
    // The line is erased first; one that is wider than the terminal could not be taken away.
    fmt::print(stderr, "\r\033[K{}…", what.substr(0, 76));
    std::fflush(stderr);
    is_shown = true;
}

void Progress::clear() {
    const std::lock_guard lock(line_mutex);
    if (!is_shown) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    is_shown = false;
}

}  // namespace fovea::tool
