// Instructions that compute each lane from the same lane of their operands.
#pragma once

#include <cstdint>

#include "codegen/ptx/decode.h"
#include "codegen/ptx/lanes.h"

namespace fovea::ptx {

/// result = F(a), F(a, b), F(a, b, c) with lanes of type T: functions without state that may be
/// called for lanes outside of the mask too.
template <class T, class F>
void unary(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source(0));
    T values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = T(F{}(a[lane]));
    store_lanes(warp.lanes<T>(op.result()), values, mask);
}

template <class T, class F>
void binary(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source(0));
    const T* b = warp.lanes<T>(op.source(1));
    T values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = T(F{}(a[lane], b[lane]));
    store_lanes(warp.lanes<T>(op.result()), values, mask);
}

template <class T, class F>
void ternary(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source(0));
    const T* b = warp.lanes<T>(op.source(1));
    const T* c = warp.lanes<T>(op.source(2));
    T values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = T(F{}(a[lane], b[lane], c[lane]));
    store_lanes(warp.lanes<T>(op.result()), values, mask);
}

/// result = F(a, count), where the count has 32 bits.
template <class T, class F>
void shift(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source(0));
    const std::uint32_t* count = warp.lanes<std::uint32_t>(op.source(1));
    T values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = T(F{}(a[lane], count[lane]));
    store_lanes(warp.lanes<T>(op.result()), values, mask);
}

/// f(zero of the C++ integer for lanes of that type), or null for types that are no integers of 16
/// to 64 bits.
template <class F>
Handler for_integer(Type type, F f) {
    switch (type) {
        case Type::u16:
        case Type::b16: return f(std::uint16_t{});
        case Type::s16: return f(std::int16_t{});
        case Type::u32:
        case Type::b32: return f(std::uint32_t{});
        case Type::s32: return f(std::int32_t{});
        case Type::u64:
        case Type::b64: return f(std::uint64_t{});
        case Type::s64: return f(std::int64_t{});
        default: return nullptr;
    }
}

template <class F>
Handler for_float(Type type, F f) {
    if (type == Type::f32) return f(float{});
    if (type == Type::f64) return f(double{});
    return nullptr;
}

/// The handlers F<T>::run of operations with one, two or three operands of one type.
template <class Operation>
Handler integer_unary(Type type) {
    return for_integer(type, [](auto zero) -> Handler { return unary<decltype(zero), Operation>; });
}
template <class Operation>
Handler integer_binary(Type type) {
    return for_integer(type,
                       [](auto zero) -> Handler { return binary<decltype(zero), Operation>; });
}
template <class Operation>
Handler integer_ternary(Type type) {
    return for_integer(type,
                       [](auto zero) -> Handler { return ternary<decltype(zero), Operation>; });
}

/// Emits `run` for operands that all have that type, the first one the result.
inline Op& emit_same(Decoder& decoder, const Instruction& instruction, Handler run, Type type,
                     std::size_t sources) {
    decoder.require(instruction, sources + 1);
    std::vector<Slot> slots;
    for (std::size_t i = 1; i <= sources; ++i)
        slots.push_back(decoder.source(instruction.operands[i], type));
    return decoder.emit(instruction, run, {decoder.result(instruction.operands[0], type)}, slots);
}

/// Whether an opcode's type is one of the floating-point family, which another file decodes.
inline bool is_float(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2 ||
           type == Type::f32 || type == Type::f64;
}

/// Decodes the floating-point form of an opcode that integers share: "add", "min", "neg".
void decode_floating(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers,
                     Type type);
/// The same for f16, bf16 and their pairs.
void decode_half(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers, Type type);

}  // namespace fovea::ptx
