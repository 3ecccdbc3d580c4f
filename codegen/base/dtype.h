// Element types of tensors.
#pragma once

#include <string_view>

namespace fovea {

enum class DType : unsigned char { f32, bf16, i32, boolean };

inline constexpr DType f32 = DType::f32, bf16 = DType::bf16, i32 = DType::i32,
                       boolean = DType::boolean;

/// As printed: f32, bf16, i32, bool.
constexpr std::string_view name_of(DType type) {
    constexpr std::string_view names[]{"f32", "bf16", "i32", "bool"};
    return names[int(type)];
}

constexpr bool is_float(DType type) { return type == DType::f32 || type == DType::bf16; }

}  // namespace fovea
