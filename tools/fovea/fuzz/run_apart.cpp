#include "tools/fovea/fuzz/run_apart.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>

#include "codegen/base/error.h"

namespace fovea::tool::fuzz {

namespace {

[[noreturn]] void answer(int pipe, const std::function<std::string()>& work, int seconds) {
    const rlimit of_cores{rlim_t(seconds), rlim_t(seconds)};
    setrlimit(RLIMIT_CPU, &of_cores);
    // What this process does at a crash is its own affair.
    for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) std::signal(number, SIG_DFL);
    const std::string text = work();
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = write(pipe, text.data() + at, text.size() - at);
        if (written <= 0) _exit(2);
        at += std::size_t(written);
    }
    _exit(0);
}

/// All that the child writes; false when the time is over first.
bool read_answer(int pipe, int seconds, std::string& text) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd ready{pipe, POLLIN, 0};
        if (left <= 0 || poll(&ready, 1, int(left)) == 0) return false;
        std::array<char, 4096> part{};
        const ssize_t count = read(pipe, part.data(), part.size());
        if (count <= 0) return true;
        text.append(part.data(), std::size_t(count));
    }
}

}  // namespace

Apart run_apart(const std::function<std::string()>& work, MostSeconds most) {
    int ends[2];
    if (pipe(ends) != 0) throw UserError("cannot make a pipe: too many open files?");
    const pid_t child = fork();
    if (child < 0) throw UserError("cannot start a process: too many of them?");
    if (child == 0) {
        close(ends[0]);
        answer(ends[1], work, most.of_cores);
    }
    close(ends[1]);
    Apart result;
    const bool in_time = read_answer(ends[0], most.in_all, result.answer);
    close(ends[0]);
    if (!in_time) kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!in_time) result.end = fmt::format("took longer than {} s", most.in_all);
    else if (signal == SIGXCPU || signal == SIGKILL)  // the soft limit, and the hard one
        result.end = fmt::format("took longer than {} s of the cores", most.of_cores);
    else if (signal) result.end = fmt::format("ended by signal {}", signal);
    else if (WEXITSTATUS(status) != 0) result.end = fmt::format("status {}", WEXITSTATUS(status));
    result.answered = result.end.empty();
    return result;
}

}  // namespace fovea::tool::fuzz
