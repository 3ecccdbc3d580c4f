// Element types of tensors.
#pragma once

#include <string_view>

namespace fovea {

enum class DType : unsigned char { f32, bf16, f16, i32, boolean };

inline constexpr DType f32 = DType::f32, bf16 = DType::bf16, f16 = DType::f16, i32 = DType::i32,
                       boolean = DType::boolean;
inline constexpr int kDTypes = 5;

/// As printed: f32, bf16, f16, i32, bool.
constexpr std::string_view name_of(DType type) {
    constexpr std::string_view names[]{"f32", "bf16", "f16", "i32", "bool"};
    return names[int(type)];
}

/// As sentences name it: float32, bfloat16, float16, int32, bool.
constexpr std::string_view long_name_of(DType type) {
    constexpr std::string_view names[]{"float32", "bfloat16", "float16", "int32", "bool"};
    return names[int(type)];
}

/// A float of 16 bits: kept so in memory, and computed with as f32.
constexpr bool is_half(DType type) { return type == DType::bf16 || type == DType::f16; }
constexpr bool is_float(DType type) { return type == DType::f32 || is_half(type); }
/// What kernels compute with where memory holds `type`.
constexpr DType widened(DType type) { return is_half(type) ? DType::f32 : type; }
/// Bytes of an element in memory.
constexpr int size_of(DType type) { return type == DType::boolean ? 1 : is_half(type) ? 2 : 4; }

}  // namespace fovea
