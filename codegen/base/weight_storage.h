// How the elements of a weight lie in memory: as floats, or as whole numbers of a few bits with a
// scale for each group of neighbours along its last axis.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fovea {

/// Whole numbers of `bits` bits, 8 or 4, and a scale for each `group` of them along the last axis,
/// which products sum over; 0 bits: floats.
struct WeightStorage {
    static constexpr int kUsualGroup = 32, kGroupStep = 16, kLargestGroup = 4096;

    int bits = 0, group = 0;

    explicit constexpr operator bool() const { return bits > 0; }
    constexpr bool operator==(const WeightStorage&) const = default;
};
inline constexpr WeightStorage kInFloats{};

/// `float32`, `int8:32`, `int4:64`: with the elements of a group.
inline std::string text_of(WeightStorage storage) {
    if (!storage) return "float32";
    return "int" + std::to_string(storage.bits) + ":" + std::to_string(storage.group);
}

/// What `text_of` gives, and `int8`, `int4` for the usual group; nothing for anything else: groups
/// are multiples of 16 up to 4096.
inline std::optional<WeightStorage> parse_weight_storage(std::string_view text) {
    if (text == "float32") return kInFloats;
    WeightStorage storage{0, WeightStorage::kUsualGroup};
    for (int bits : {4, 8})
        if (text.starts_with("int" + std::to_string(bits))) storage.bits = bits;
    if (!storage) return {};
    text.remove_prefix(4);
    if (text.empty()) return storage;
    if (text[0] != ':' || text.size() < 2 || text.size() > 5) return {};
    storage.group = 0;
    for (char digit : text.substr(1)) {
        if (digit < '0' || digit > '9') return {};
        storage.group = 10 * storage.group + (digit - '0');
    }
    const bool is_right = storage.group > 0 && storage.group <= WeightStorage::kLargestGroup &&
                          storage.group % WeightStorage::kGroupStep == 0;
    return is_right ? std::optional(storage) : std::nullopt;
}

}  // namespace fovea
