#include "tools/fovea/model/crash_report.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace fovea::tool {

namespace {

constexpr std::size_t kStackBytes = 64 << 10;

/// The line of each signal, written before one comes: a handler may not allocate.
std::array<std::string, CrashReport::kSignals.size()> crash_lines;

/// The line of a function that calls exit, and whether one runs.
std::string exit_line;
bool is_in_function = false;

[[noreturn]] void end_with(const std::string& line) {
    // There is nobody to tell that it cannot be written.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    _exit(2);
}
void say_crash(int signal) {
    const auto at = std::ranges::find(CrashReport::kSignals, signal);
    end_with(crash_lines[std::size_t(at - CrashReport::kSignals.begin())]);
}
void say_exit() {
    if (is_in_function) end_with(exit_line);
}

std::string_view crash_reason(int signal) {
    switch (signal) {
        case SIGABRT:
            return "aborts: a list has fewer elements than it reads, or an exception leaves a "
                   "function that is noexcept";
        case SIGFPE: return "divides an integer by zero";
        default: return "reads memory that is not its own, or calls itself without end";
    }
}

}  // namespace

CrashReport::CrashReport(const std::string& model) : stack_(kStackBytes) {
    [[maybe_unused]] static const int registered = std::atexit(say_exit);
    exit_line = "fovea: the function of " + model + " ends the process\n";
    is_in_function = true;
    const stack_t stack{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
    sigaltstack(&stack, &last_stack_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        crash_lines[i] = "fovea: the function of " + model + " ";
        crash_lines[i].append(crash_reason(kSignals[i])).push_back('\n');
        struct sigaction action{};
        action.sa_handler = say_crash;
        action.sa_flags = SA_ONSTACK;
        sigaction(kSignals[i], &action, &last_actions_[i]);
    }
}

CrashReport::~CrashReport() {
    is_in_function = false;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &last_actions_[i], nullptr);
    sigaltstack(&last_stack_, nullptr);
}

}  // namespace fovea::tool
