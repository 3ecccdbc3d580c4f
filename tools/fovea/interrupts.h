// What a command clears away when a signal ends it: its temporary files and the programs it runs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>

namespace fovea::tool {

/// From here on SIGINT, SIGTERM and SIGHUP end the programs that run, remove what is registered,
/// and then end this process as they would have. A signal that was ignored at the start stays so
/// (nohup). Call it once, before any thread is started.
void clear_away_on_signals();

/// While it lives, a signal removes `path`, a file or a folder with all that is in it.
class RemovedOnSignal {
  public:
    explicit RemovedOnSignal(std::filesystem::path path);
    ~RemovedOnSignal();
    RemovedOnSignal(const RemovedOnSignal&) = delete;
    RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Whether programs are to be started in process groups of their own, to be ended with all that
/// they start.
bool ends_children_on_signals();
/// Calls `start`, which gives the number of a child, or -1. From then until `forget_child` a signal
/// ends the group of this child.
pid_t start_child(const std::function<pid_t()>& start);
void forget_child(pid_t child);

}  // namespace fovea::tool
