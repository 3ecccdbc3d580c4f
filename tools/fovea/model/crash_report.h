// What a model's function may do to the process that calls it, said as a mistake of the user.
#pragma once

#include <array>
#include <csignal>
#include <string>
#include <vector>

namespace fovea::tool {

/// While one lives, a failed assertion of the library, a call of exit or abort, a division of an
/// integer by zero, memory that is not there and a recursion without end terminate the process with
/// exit status 2 and a line that names the model. One at a time, in the thread that calls the
/// model's function.
class CrashReport {
  public:
    explicit CrashReport(const std::string& model);
    ~CrashReport();
    CrashReport(const CrashReport&) = delete;
    CrashReport& operator=(const CrashReport&) = delete;

    static constexpr std::array kSignals{SIGABRT, SIGFPE, SIGSEGV, SIGBUS};

  private:
    std::vector<char> stack_;  // the handler's: a recursion without end leaves none
    stack_t last_stack_{};
    std::array<struct sigaction, kSignals.size()> last_actions_{};
};

}  // namespace fovea::tool
