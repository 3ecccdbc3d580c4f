// What the processor counts while a thread runs, where the system lets a process read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../files/locked_file.h"

namespace fovea::runtime {

/// One thing that is counted: a type and a number of perf_event_open, and its name in a trace.
struct CountedEvent {
    std::uint32_t type = 0;
    std::uint64_t number = 0;
    const char* name = "";
};
inline constexpr std::size_t kCountedEvents = 3;
using CountedEvents = std::array<CountedEvent, kCountedEvents>;
using Counts = std::array<std::uint64_t, kCountedEvents>;

/// Cycles, instructions, cache misses.
CountedEvents hardware_events();

/// Counters of one thread outside of the kernel, in one group, so that all count the same time.
class ThreadCounters {
  public:
    /// Of the thread that makes it.
    explicit ThreadCounters(const CountedEvents& events);
    /// Empty, or why the system has none: one sentence's part.
    const std::string& why_not() const { return why_not_; }
    /// So far; any thread may ask. Zeros where there are none.
    Counts read() const;

  private:
    std::string why_not_;
    std::vector<Descriptor> counters_;
};

}  // namespace fovea::runtime
