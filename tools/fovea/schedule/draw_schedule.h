// Schedules at random: numbers of the targets, from their ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::tool {

/// A schedule file that sets three in four of the numbers whose names start with `start` (`cpu.`,
/// `gpu.`), each as the seed says. Some that a GPU has no room for are refused when kernels are
/// written.
std::string draw_schedule(std::string_view start, std::uint64_t seed);

/// Whether a refusal is that of a schedule which an architecture cannot keep.
bool is_of_schedule(std::string_view refusal);

}  // namespace fovea::tool
