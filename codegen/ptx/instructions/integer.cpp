// Whole numbers: sums, products, quotients, extremes.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

/// Arithmetic that wraps around.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
struct Wider;
template <>
struct Wider<std::uint16_t> {
    using type = std::uint32_t;
};
template <>
struct Wider<std::int16_t> {
    using type = std::int32_t;
};
template <>
struct Wider<std::uint32_t> {
    using type = std::uint64_t;
};
template <>
struct Wider<std::int32_t> {
    using type = std::int64_t;
};
template <>
struct Wider<std::uint64_t> {
    using type = unsigned __int128;
};
template <>
struct Wider<std::int64_t> {
    using type = __int128;
};

struct IntegerAdd {
    template <class T>
    T operator()(T a, T b) const {
        return T(Wrapping<T>(a) + Wrapping<T>(b));
    }
};
struct IntegerSubtract {
    template <class T>
    T operator()(T a, T b) const {
        return T(Wrapping<T>(a) - Wrapping<T>(b));
    }
};
struct MultiplyLow {
    template <class T>
    T operator()(T a, T b) const {
        return T(Wrapping<T>(a) * Wrapping<T>(b));
    }
};
struct MultiplyHigh {
    template <class T>
    T operator()(T a, T b) const {
        using W = typename Wider<T>::type;
        return T((W(a) * W(b)) >> (8 * sizeof(T)));
    }
};
struct MultiplyAddLow {
    template <class T>
    T operator()(T a, T b, T c) const {
        return T(Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c));
    }
};
struct MultiplyAddHigh {
    template <class T>
    T operator()(T a, T b, T c) const {
        return IntegerAdd{}(MultiplyHigh{}(a, b), c);
    }
};
struct IntegerDivide {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return T(-1);  // what the hardware gives
        if (std::is_signed_v<T> && b == T(-1)) return IntegerSubtract{}(T(0), a);
        return T(a / b);
    }
};
struct Remainder {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return a;
        if (std::is_signed_v<T> && b == T(-1)) return 0;
        return T(a % b);
    }
};
struct IntegerSmallest {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct IntegerLargest {
    template <class T>
    T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};
struct IntegerNegate {
    template <class T>
    T operator()(T a) const {
        return IntegerSubtract{}(T(0), a);
    }
};
struct IntegerAbsolute {
    template <class T>
    T operator()(T a) const {
        return a < 0 ? IntegerSubtract{}(T(0), a) : a;
    }
};
struct AbsoluteDifference {
    template <class T>
    T operator()(T a, T b, T c) const {
        return IntegerAdd{}(a < b ? IntegerSubtract{}(b, a) : IntegerSubtract{}(a, b), c);
    }
};
struct AddSaturated {
    template <class T>
    T operator()(T a, T b) const {
        using W = typename Wider<T>::type;
        return T(std::clamp<W>(W(a) + W(b), std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
    }
};
struct SubtractSaturated {
    template <class T>
    T operator()(T a, T b) const {
        using W = typename Wider<T>::type;
        return T(std::clamp<W>(W(a) - W(b), std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
    }
};

/// result = a * b (+ c), twice as wide as a and b.
template <class T, bool kAdds>
void multiply_wide(Warp& warp, const Op& op, Mask mask) {
    using W = typename Wider<T>::type;
    const T* a = warp.lanes<T>(op.source(0));
    const T* b = warp.lanes<T>(op.source(1));
    W values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = W(a[lane]) * W(b[lane]);
    if constexpr (kAdds) {
        const W* c = warp.lanes<W>(op.source(2));
        for (int lane = 0; lane < kLanes; ++lane)
            values[lane] = IntegerAdd{}(values[lane], c[lane]);
    }
    store_lanes(warp.lanes<W>(op.result()), values, mask);
}

template <bool kAdds>
Handler wide_handler(Type type) {
    switch (type) {
        case Type::u16: return multiply_wide<std::uint16_t, kAdds>;
        case Type::s16: return multiply_wide<std::int16_t, kAdds>;
        case Type::u32: return multiply_wide<std::uint32_t, kAdds>;
        case Type::s32: return multiply_wide<std::int32_t, kAdds>;
        default: return nullptr;
    }
}

/// The low 24 bits of both factors.
template <bool kAdds>
void multiply24(Warp& warp, const Op& op, Mask mask) {
    const bool sign = op.immediate;
    for_lanes(mask, [&](int lane) {
        const auto part = [&](int i) {
            const std::uint32_t bits = warp.lanes<std::uint32_t>(op.source(i))[lane] << 8;
            return sign ? std::int32_t(bits) >> 8 : std::int32_t(bits >> 8);
        };
        std::uint32_t value = std::uint32_t(std::int64_t(part(0)) * part(1));
        if (kAdds) value += warp.lanes<std::uint32_t>(op.source(2))[lane];
        warp.lanes<std::uint32_t>(op.result())[lane] = value;
    });
}

template <class Plain, class Saturated>
void decode_sum(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    if (is_float(type)) return decode_floating(decoder, instruction, modifiers, type);
    const bool saturated = modifiers.take("sat");
    const Handler run =
        saturated ? (type == Type::s32 ? Handler(binary<std::int32_t, Saturated>) : nullptr)
                  : integer_binary<Plain>(type);
    emit_same(decoder, instruction, run, type, 2);
}

void decode_multiply(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    if (is_float(type)) return decode_floating(decoder, instruction, modifiers, type);
    if (modifiers.take("wide")) {
        decoder.require(instruction, 3);
        const auto& at = instruction.operands;
        decoder.emit(instruction, wide_handler<false>(type),
                     {decoder.result(at[0], bits_type(2 * bytes_of(type)))},
                     {decoder.source(at[1], type), decoder.source(at[2], type)});
        return;
    }
    const bool high = modifiers.take("hi");
    modifiers.take("lo");
    emit_same(decoder, instruction,
              high ? integer_binary<MultiplyHigh>(type) : integer_binary<MultiplyLow>(type), type,
              2);
}

void decode_multiply_add(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    if (is_float(type)) return decode_floating(decoder, instruction, modifiers, type);
    if (modifiers.take("wide")) {
        decoder.require(instruction, 4);
        const auto& at = instruction.operands;
        const Type wide = bits_type(2 * bytes_of(type));
        decoder.emit(instruction, wide_handler<true>(type), {decoder.result(at[0], wide)},
                     {decoder.source(at[1], type), decoder.source(at[2], type),
                      decoder.source(at[3], wide)});
        return;
    }
    const bool high = modifiers.take("hi");
    modifiers.take("lo");
    emit_same(decoder, instruction,
              high ? integer_ternary<MultiplyAddHigh>(type) : integer_ternary<MultiplyAddLow>(type),
              type, 3);
}

template <bool kAdds>
void decode_multiply24(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    modifiers.take("lo");
    emit_same(decoder, instruction, multiply24<kAdds>, type, kAdds ? 3 : 2).immediate =
        is_signed(type);
}

template <class Operation>
void decode_binary(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    if (is_float(type)) return decode_floating(decoder, instruction, modifiers, type);
    emit_same(decoder, instruction, integer_binary<Operation>(type), type, 2);
}

template <class Operation>
void decode_unary(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    if (is_float(type)) return decode_floating(decoder, instruction, modifiers, type);
    emit_same(decoder, instruction, integer_unary<Operation>(type), type, 1);
}

void decode_difference(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    emit_same(decoder, instruction, integer_ternary<AbsoluteDifference>(type), type, 3);
}

}  // namespace

void add_integer(OpcodeTable& table) {
    table["add"] = decode_sum<IntegerAdd, AddSaturated>;
    table["sub"] = decode_sum<IntegerSubtract, SubtractSaturated>;
    table["mul"] = decode_multiply;
    table["mad"] = decode_multiply_add;
    table["mul24"] = decode_multiply24<false>;
    table["mad24"] = decode_multiply24<true>;
    table["div"] = decode_binary<IntegerDivide>;
    table["rem"] = decode_binary<Remainder>;
    table["min"] = decode_binary<IntegerSmallest>;
    table["max"] = decode_binary<IntegerLargest>;
    table["neg"] = decode_unary<IntegerNegate>;
    table["abs"] = decode_unary<IntegerAbsolute>;
    table["sad"] = decode_difference;
}

}  // namespace fovea::ptx
