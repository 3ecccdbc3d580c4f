// A line on standard error that says what a command is at, for whoever waits for it.
#pragma once

#include <string_view>

namespace fovea::tool {

/// Shows a line while it lives, where standard error is a terminal, and takes it away after. Files
/// and pipes get nothing. May be used from several threads.
class Progress {
  public:
    explicit Progress(std::string_view what) { show(what); }
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Puts `what` in the place of the line.
    static void show(std::string_view what);
    /// Takes the line away: before anything else is printed.
    static void clear();
};

}  // namespace fovea::tool
