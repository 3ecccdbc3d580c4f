// Files that a command will write, checked before the work starts.
#pragma once

#include <string>

#include "../files/locked_file.h"

namespace fovea::runtime {

/// Throws UserError, with the system's reason, where `path` could not be written. Leaves nothing
/// behind: creates a file beside it and removes that again, and one that a
/// killed process left there.
void verify_writable(const std::string& path);

/// While one is alive, no other process has one for this file: `PATH.lock` is locked, and removed
/// at the end. UserError where another has it. Pipes and devices are nobody's.
class OutputLock {
  public:
    explicit OutputLock(const std::string& path);
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

  private:
    std::string lock_path_;
    Descriptor file_;
};

}  // namespace fovea::runtime
