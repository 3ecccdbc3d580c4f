// The barrier: a counter of arrivals, and the number of the round that waits. Points that are
// taken: a counter with the loop's number.
#include "team.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "../threads.h"

#ifdef __unix__
#include <sched.h>
#endif

namespace fovea::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSpins = 1000;  // some 10 microseconds
constexpr int kSpinsIfShared = 50;
constexpr int kYields = 1000;  // on a free core as long as it takes to put a thread to sleep and
    // wake it, a few times over
constexpr auto kLate = std::chrono::microseconds(100);
constexpr auto kMemory = std::chrono::milliseconds(100);

/// A region is short when it takes no longer than this: a hundred times what a wait costs.
constexpr Clock::rep kShort = Clock::duration(std::chrono::microseconds(100)).count();
/// A thread that comes to a short region's end so long after the first was kept from its core.
constexpr Clock::rep kHeldUp = Clock::duration(std::chrono::milliseconds(2)).count();

/// How long the last region took that this thread began.
thread_local Clock::rep last_region = kHeldUp;

Clock::rep now() { return Clock::now().time_since_epoch().count(); }

/// What this thread is in; null: no team.
thread_local TeamMember* own_member = nullptr;

/// When cores that are shared may be taken to be free again, in ticks of the clock; 0: they are.
std::atomic<Clock::rep> shared_until{0};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");  // about as long as x86's pause; yield is no wait at all
#endif
}

void yield_core() {
#ifdef __unix__
    sched_yield();
#endif
}

}  // namespace

bool cores_are_shared() {
    const Clock::rep until = shared_until.load(std::memory_order_relaxed);
    if (until == 0) return false;
    if (Clock::now().time_since_epoch().count() < until) return true;
    shared_until.store(0, std::memory_order_relaxed);
    return false;
}

void note_shared_cores() {
    shared_until.store((Clock::now() + kMemory).time_since_epoch().count(),
                       std::memory_order_relaxed);
}

Team::Team() : Team(now()) {}

Team::Team(long long begun)
    : processors_(processor_count()),
      begun_(begun),
      is_short_(begun == 0 || (last_region < kShort && !cores_are_shared())) {}

Team::~Team() {
    if (begun_ == 0) return;
    const Clock::rep ended = now();
    last_region = ended - begun_;
    const bool was_short = arrived_at_end_ != 0 && arrived_at_end_ - begun_ < kShort;
    if (was_short && ended - arrived_at_end_ > kHeldUp) note_shared_cores();
}

void Team::end() {
    if (!is_short_ || part().count > processors_) return wait();
    if (begun_ != 0 && part().index == 0) arrived_at_end_ = now();
}

TeamMember::TeamMember(Team* team, Part part) : team_(team), part_(part), before_(own_member) {
    own_member = this;
}

TeamMember::~TeamMember() { own_member = before_; }

Part Team::part() { return own_member ? own_member->part_ : Part{}; }

void Team::wait_for_all() {
    if (own_member && own_member->team_) own_member->team_->wait();
}

std::uint32_t Team::next_loop() { return part().count > 1 ? ++own_member->loops_ : 0; }

#if defined(__cpp_lib_atomic_ref) || defined(_OPENMP)

bool Team::can_wait() { return true; }

/// A thread that comes to a loop after another one has begun a later loop finds nothing: all points
/// were taken. So one counter is enough, for loops without a barrier between them, too.
Team::Points Team::take(std::uint32_t loop, std::int64_t at_once, std::int64_t count) {
    const std::atomic_ref counter(own_member->team_->taken_);
    std::uint64_t seen = counter.load(std::memory_order_relaxed);
    while (true) {
        const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(seen >> 32) - loop);
        const std::int64_t begin = ahead < 0 ? 0 : static_cast<std::uint32_t>(seen);
        if (ahead > 0 || begin >= count) return {count, count};
        const std::int64_t end = std::min(begin + at_once, count);
        const std::uint64_t next = std::uint64_t(loop) << 32 | static_cast<std::uint64_t>(end);
        if (counter.compare_exchange_weak(seen, next, std::memory_order_relaxed))
            return {begin, end};
    }
}

void Team::wait() {
    const int threads = part().count;
    if (threads == 1) return;
    const std::atomic_ref arrived(arrived_);
    const std::atomic_ref current(round_);
    const unsigned before = current.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
        arrived.store(0, std::memory_order_relaxed);
        current.store(before + 1, std::memory_order_release);
        current.notify_all();
        return;
    }
    if (spin(before) || yield(before)) return;
    while (round() == before) current.wait(before);
}

unsigned Team::round() { return std::atomic_ref(round_).load(std::memory_order_acquire); }

/// Whether the round ended while this thread kept its core.
bool Team::spin(unsigned before) {
    const bool crowded = part().count > processors_;
    const int spins = crowded ? 0 : cores_are_shared() ? kSpinsIfShared : kSpins;
    for (int i = 0; i < spins; ++i) {
        if (round() != before) return true;
        pause();
    }
    return round() != before;
}

/// Whether the round ended while this thread offered its core to others. To a thread of this region
/// it goes where there are more than cores; else a core that comes back late is shared.
bool Team::yield(unsigned before) {
    const bool crowded = part().count > processors_;
    if (!crowded && cores_are_shared()) {
        unbind_this_thread();
        return false;
    }
    Clock::time_point last = Clock::now();
    for (int i = 0; i < kYields; ++i) {
        yield_core();
        const Clock::time_point now = Clock::now();
        const bool late = !crowded && now - last > kLate;
        if (late) note_shared_cores();
        if (round() != before) return true;
        if (late) return false;
        last = now;
    }
    return false;
}

#else

bool Team::can_wait() { return false; }
Team::Points Team::take(std::uint32_t, std::int64_t, std::int64_t count) { return {count, count}; }
void Team::wait() {}

#endif

}  // namespace fovea::runtime
