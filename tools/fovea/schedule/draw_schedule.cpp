#include "tools/fovea/schedule/draw_schedule.h"

#include <algorithm>
#include <cmath>

#include "codegen/target/schedule.h"
#include "runtime/training/random_stream.h"

namespace fovea::tool {

namespace {

constexpr std::uint32_t kScheduleStream = 97;

/// Of long ranges as often from 1 to 10 as from 10 to 100.
double value_in(const target::Limits& limits, double share) {
    const double first = std::max(limits.least, 1.0);
    double drawn = limits.least + share * (limits.most - limits.least);
    if (limits.power_of_two || limits.most > 1000 * first)
        drawn = first * std::pow(limits.most / first, share);
    if (!limits.whole) return drawn;
    if (limits.power_of_two) return std::exp2(std::round(std::log2(drawn)));
    const double rounded = std::floor(drawn / limits.step) * limits.step;
    return rounded < limits.least ? rounded + limits.step : rounded;
}

}  // namespace

std::string draw_schedule(std::string_view start, std::uint64_t seed) {
    const runtime::RandomStream random(seed, kScheduleStream);
    std::uint64_t next = 0;
    std::string text;
    for (const target::ScheduleEntry& entry : target::schedule_entries())
        if (entry.name.starts_with(start) && random.uniform(next++) > 0.25F)
            text += entry.name + " = " +
                    target::text_of(value_in(entry.limits, double(random.uniform(next++)))) + "\n";
    return text;
}

bool is_of_schedule(std::string_view refusal) {
    return refusal.starts_with("the schedule cannot be kept by kernel ") &&
           refusal.find("; change gpu.") != refusal.npos;
}

}  // namespace fovea::tool
