// A tensor map is its fields behind a mark.
#include "codegen/ptx/tensor_map.h"

#include <cstring>

namespace fovea::ptx {
namespace {

constexpr std::array<char, 8> kMark = {'f', 'o', 'v', 'e', 'a', 'm', 'a', 'p'};

/// Strides and extents are kept as multiples of what fits: the fields packed one after the other.
struct Packed {
    std::array<char, 8> mark;
    std::uint64_t address;
    std::uint8_t rank, element_bytes, swizzle, rounds_to_tf32;
    std::array<std::uint16_t, 5> box;
    std::array<std::uint32_t, 5> extents;
    std::array<std::uint64_t, 4> strides;  // of dimensions 1 to 4
};
static_assert(sizeof(Packed) <= 128);

}  // namespace

std::array<std::byte, 128> encode(const TensorMap& map) {
    Packed packed{kMark,
                  map.address,
                  std::uint8_t(map.rank),
                  std::uint8_t(map.element_bytes),
                  std::uint8_t(map.swizzle),
                  std::uint8_t(map.rounds_to_tf32),
                  {},
                  {},
                  {}};
    for (std::size_t i = 0; i < 5; ++i) {
        packed.box[i] = std::uint16_t(map.box[i]);
        packed.extents[i] = std::uint32_t(map.extents[i]);
        if (i > 0) packed.strides[i - 1] = map.strides[i];
    }
    std::array<std::byte, 128> bytes{};
    std::memcpy(bytes.data(), &packed, sizeof packed);
    return bytes;
}

std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, 128> bytes) {
    Packed packed;
    std::memcpy(&packed, bytes.data(), sizeof packed);
    if (packed.mark != kMark) return std::nullopt;
    TensorMap map{packed.address,
                  packed.rank,
                  packed.element_bytes,
                  {},
                  {},
                  {},
                  packed.swizzle,
                  packed.rounds_to_tf32 != 0};
    for (std::size_t i = 0; i < 5; ++i) {
        map.box[i] = packed.box[i];
        map.extents[i] = packed.extents[i];
        map.strides[i] = i > 0 ? packed.strides[i - 1] : packed.element_bytes;
    }
    return map;
}

std::uint32_t swizzled(std::uint32_t address, std::uint32_t swizzle) {
    const std::uint32_t rows = swizzle / 16;  // pieces that are exchanged: 0, 2, 4 or 8
    return rows < 2 ? address : address ^ ((address >> 7 & (rows - 1)) << 4);
}

}  // namespace fovea::ptx
