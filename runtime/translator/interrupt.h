// Notes SIGINT and SIGTERM, so that a training can finish its step and save before it ends.
#pragma once

#include <csignal>

namespace fovea::runtime {

/// While one is alive, the first SIGINT or SIGTERM is only noted; a second of its kind ends the
/// process. The handlers that stood before return with the destructor. At most one at a time.
class InterruptNotice {
  public:
    InterruptNotice();
    ~InterruptNotice();
    InterruptNotice(const InterruptNotice&) = delete;
    InterruptNotice& operator=(const InterruptNotice&) = delete;

    /// The signal that came, or 0.
    static int received();

  private:
    struct sigaction previous_interrupt_, previous_terminate_;
};

}  // namespace fovea::runtime
