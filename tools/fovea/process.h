// Running other programs, without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea::tool {

struct ProcessResult {
    int status = 0;      // its exit status; 128 and the signal's number when a signal ended it
    std::string output;  // standard output and standard error together
};

/// Runs `command[0]`, found through PATH; UserError when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command);

/// Where PATH finds a program; empty when nowhere.
std::string find_program(const std::string& name);

/// A folder that the destructor removes with all that is in it.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace fovea::tool
