// The sizes and names of element types.
#pragma once

#include <cstddef>
#include <string_view>

#include "dtypes.h"

namespace fovea::runtime {

inline constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::f16, DType::i32,
                                    DType::boolean};

/// A float of 16 bits.
constexpr bool is_half(DType type) { return type == DType::bf16 || type == DType::f16; }

/// Bytes of one element.
constexpr std::size_t size_of(DType type) {
    switch (type) {
        case DType::f32:
        case DType::i32: return 4;
        case DType::bf16:
        case DType::f16: return 2;
        case DType::boolean: return 1;
    }
    return 0;
}

/// The name that fovea prints: f32, bf16, f16, i32, bool.
constexpr std::string_view name_of(DType type) {
    switch (type) {
        case DType::f32: return "f32";
        case DType::bf16: return "bf16";
        case DType::f16: return "f16";
        case DType::i32: return "i32";
        case DType::boolean: return "bool";
    }
    return "?";
}

}  // namespace fovea::runtime
