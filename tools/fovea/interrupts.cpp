// One thread waits for the signals, which all others block: it may take locks and remove files,
// as a signal handler may not.
#include "tools/fovea/interrupts.h"

#include <csignal>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>

namespace fovea::tool {

namespace {

struct Registry {
    std::mutex mutex;  // the thread that clears away keeps it: nothing new is started meanwhile
    std::multiset<std::filesystem::path> paths;
    std::set<pid_t> children;
    bool is_watched = false;
};

/// It is never destroyed, for the thread that waits runs until the end of the process.
Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

bool group_is_there(pid_t child) { return kill(-child, 0) == 0; }

/// Their files are not removed while they still write some: waits for at most two seconds.
void end_children(const std::set<pid_t>& children) {
    for (pid_t child : children) kill(-child, SIGTERM);
    const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    for (int i = 0; i < 200; ++i) {
        bool any = false;
        for (pid_t child : children) any = any || group_is_there(child);
        if (!any) return;
        nanosleep(&pause, nullptr);
    }
    for (pid_t child : children) kill(-child, SIGKILL);
}

void wait_for_signal(const sigset_t& signals) {
    int number = 0;
    while (sigwait(&signals, &number) != 0) {
    }
    Registry& all = registry();
    all.mutex.lock();
    end_children(all.children);
    for (const auto& path : all.paths) {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    std::signal(number, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    std::raise(number);
}

}  // namespace

void clear_away_on_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action{};
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals, number);
    }
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    registry().is_watched = true;
    std::thread(wait_for_signal, signals).detach();
}

RemovedOnSignal::RemovedOnSignal(std::filesystem::path path) : path_(std::move(path)) {
    const std::lock_guard lock(registry().mutex);
    registry().paths.insert(path_);
}

RemovedOnSignal::~RemovedOnSignal() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.paths.erase(all.paths.find(path_));
}

bool ends_children_on_signals() { return registry().is_watched; }

pid_t start_child(const std::function<pid_t()>& start) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const pid_t child = start();
    if (child > 0 && all.is_watched) all.children.insert(child);
    return child;
}

void forget_child(pid_t child) {
    const std::lock_guard lock(registry().mutex);
    registry().children.erase(child);
}

}  // namespace fovea::tool
