// The types that PTX instructions name: how wide a lane is and how its bits are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fovea::ptx {

enum class Type : std::uint8_t {
    pred,
    b8,
    u8,
    s8,
    b16,
    u16,
    s16,
    f16,
    bf16,
    b32,
    u32,
    s32,
    f32,
    f16x2,
    bf16x2,
    tf32,
    b64,
    u64,
    s64,
    f64,
};

/// The type that a modifier names ("u32"), if it names one.
std::optional<Type> type_named(std::string_view name);
std::string_view name_of(Type type);

/// Bytes of one value; 1 for a predicate.
constexpr unsigned bytes_of(Type type) {
    if (type <= Type::s8) return 1;
    if (type <= Type::bf16) return 2;
    return type <= Type::tf32 ? 4 : 8;
}
bool is_signed(Type type);

/// The integer type of that many bytes.
Type bits_type(unsigned bytes);

}  // namespace fovea::ptx
