// Names of the sizes of caches: how many positions they have room for.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fovea::runtime {

inline constexpr std::string_view kStepsRoom = "steps";

/// N of a size `steps_of_window_N`, the room of a cache that is written around: the smaller of
/// `steps` and N, a window's positions.
inline std::optional<std::int64_t> window_of_room(std::string_view name) {
    constexpr std::string_view kStart = "steps_of_window_";
    if (!name.starts_with(kStart)) return {};
    std::int64_t window = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kStart.size(), end, window);
    if (read.ec != std::errc() || read.ptr != end) return {};
    return window;
}

/// Whether a dim of this name holds positions: position p of a text lies at p modulo its size.
inline bool is_room(std::string_view name) {
    return name == kStepsRoom || window_of_room(name).has_value();
}

}  // namespace fovea::runtime
