#include "hardware_counters.h"

#include <cerrno>
#include <cstring>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fovea::runtime {

#ifdef __linux__
namespace {

int open_counter(const CountedEvent& event, int leader) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = event.type;
    wanted.config = event.number;
    wanted.read_format = PERF_FORMAT_GROUP;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &wanted, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

std::string reason(int error) {
    if (error == EACCES || error == EPERM)
        return "the system forbids them (see /proc/sys/kernel/perf_event_paranoid)";
    if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
        return "the machine, or what it runs in, has none";
    return std::strerror(error);
}

}  // namespace

CountedEvents hardware_events() {
    return {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles"},
             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache_misses"}}};
}

ThreadCounters::ThreadCounters(const CountedEvents& events) {
    for (const CountedEvent& event : events) {
        const int leader = counters_.empty() ? -1 : counters_[0].number();
        counters_.emplace_back(open_counter(event, leader));
        if (counters_.back().is_open()) continue;
        why_not_ = reason(errno);
        counters_.clear();
        return;
    }
}

Counts ThreadCounters::read() const {
    struct {
        std::uint64_t count;
        Counts values;
    } group = {};
    if (counters_.empty() || ::read(counters_[0].number(), &group, sizeof group) != sizeof group)
        return {};
    return group.values;
}
#else
CountedEvents hardware_events() { return {}; }
ThreadCounters::ThreadCounters(const CountedEvents&) : why_not_("this system is not Linux") {}
Counts ThreadCounters::read() const { return {}; }
#endif

}  // namespace fovea::runtime
