// Notes SIGINT, SIGTERM and SIGHUP, so that a training can finish its step and save before it ends.
#pragma once

#include <csignal>

namespace fovea::runtime {

/// While one is alive, the first SIGINT, SIGTERM or SIGHUP is only noted; a second of its kind ends
/// the process. One that was ignored (by nohup, in the background) stays so. The handlers that
/// stood before return with the destructor. At most one at a time.
class InterruptNotice {
  public:
    InterruptNotice();
    ~InterruptNotice();
    InterruptNotice(const InterruptNotice&) = delete;
    InterruptNotice& operator=(const InterruptNotice&) = delete;

    /// The signal that came, or 0.
    static int received();

  private:
    struct sigaction previous_[3];
};

}  // namespace fovea::runtime
