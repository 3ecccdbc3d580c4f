// Names of the sizes of caches.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// How many positions caches have room for.
inline constexpr std::string_view kSteps = "steps";

/// `steps_of_window_4096`, the smaller of `steps` and the positions of a window: a cache that is
/// written around needs no more. Programs compute it (runtime/instance.h).
inline constexpr std::string_view kStepsOfWindow = "steps_of_window_";
inline std::string room_of_window(std::int64_t positions) {
    return std::string(kStepsOfWindow) + std::to_string(positions);
}
inline bool is_room_of_window(std::string_view name) { return name.starts_with(kStepsOfWindow); }

}  // namespace fovea
