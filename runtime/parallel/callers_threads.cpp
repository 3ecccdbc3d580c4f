#include "callers_threads.h"

#include <chrono>
#include <utility>

#include "../error.h"
#include "../threads.h"

#ifdef __unix__
#include <sched.h>
#endif

namespace fovea::runtime {

namespace {

constexpr auto kPatience = std::chrono::microseconds(200);
constexpr unsigned kAskAnew = 64;  // calls

/// The tasks of one call, as they begin.
class Gathering {
  public:
    Gathering(Team& team, int expected) : team_(team), expected_(expected) {}

    void join(void (*work)(void*), void* state) {
        const int index = came_.fetch_add(1, std::memory_order_relaxed);
        if (index >= kClosed) return;
        if (index == 0) close();
        while (count() == 0) give_way();
        const TeamMember member(team_, {index, count()});
        work(state);
    }
    /// After the call; 0: no task was called.
    int count() const { return count_.load(std::memory_order_acquire); }

  private:
    static constexpr int kClosed = 1 << 30;

    /// By the first one: those that have come are the team.
    void close() {
        using Clock = std::chrono::steady_clock;
        const auto last = Clock::now() + kPatience;
        while (came_.load(std::memory_order_relaxed) < expected_ && Clock::now() < last) give_way();
        count_.store(came_.fetch_add(kClosed, std::memory_order_relaxed),
                     std::memory_order_release);
    }
    static void give_way() {
#ifdef __unix__
        sched_yield();
#endif
    }

    Team& team_;
    const int expected_;
    std::atomic<int> came_ = 0;
    std::atomic<int> count_ = 0;  // of the team; 0: not known yet
};

}  // namespace

CallersThreads::CallersThreads(int count, ParallelFor parallel_for)
    : count_(Team::can_wait() ? count : 1),
      parallel_for_(std::move(parallel_for)),
      expected_(count_) {
    verify_thread_count(count);
    if (!parallel_for_) throw UserError("parallel_for is no function");
}

void CallersThreads::run(Team& team, void (*work)(void* state), void* state) {
    const bool asks_anew = calls_.fetch_add(1, std::memory_order_relaxed) % kAskAnew == 0;
    Gathering gathering(team, asks_anew ? count_ : expected_.load(std::memory_order_relaxed));
    const auto task = [&](int) { gathering.join(work, state); };
    parallel_for_(count_, std::ref(task));
    const int count = gathering.count();
    if (count == 0) throw UserError("parallel_for returned, but has called no task");
    expected_.store(count, std::memory_order_relaxed);
}

}  // namespace fovea::runtime
