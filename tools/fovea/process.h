// Running other programs, without a shell.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/fovea/interrupts.h"

namespace fovea::tool {

struct ProcessResult {
    int status = 0;      // its exit status; 128 and the signal's number when a signal ended it
    std::string output;  // standard output and standard error together
};

/// Runs `command[0]`, found through PATH; UserError when it cannot be started. Whatever the user's
/// language is, it writes messages in English (LC_ALL=C): some are read by `because_messages`.
ProcessResult run_process(const std::vector<std::string>& command);

/// Where PATH finds a program; empty when nowhere.
std::string find_program(const std::string& name);

/// Where temporary files go: $TMPDIR, else /tmp. UserError when it is no folder.
std::filesystem::path temporary_base();

/// Writes a file of a temporary folder; UserError, which names the file, when that fails.
void write_temporary(const std::filesystem::path& file, const std::string& text);

/// A folder that the destructor removes with all that is in it, and so does a signal that ends the
/// command.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return folder_->path(); }

  private:
    std::optional<RemovedOnSignal> folder_;
};

}  // namespace fovea::tool
