// Bits: logic, shifts, fields, counts, permutations.
#include <bit>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {
namespace {

struct And {
    template <class T>
    T operator()(T a, T b) const {
        return T(a & b);
    }
};
struct Or {
    template <class T>
    T operator()(T a, T b) const {
        return T(a | b);
    }
};
struct Xor {
    template <class T>
    T operator()(T a, T b) const {
        return T(a ^ b);
    }
};
struct Not {
    template <class T>
    T operator()(T a) const {
        return T(~a);
    }
};
struct CompareWithZero {
    template <class T>
    T operator()(T a) const {
        return T(a == 0);
    }
};
struct ShiftLeft {
    template <class T>
    T operator()(T a, std::uint32_t count) const {
        return count >= 8 * sizeof(T) ? T(0) : T(std::uint64_t(a) << count);
    }
};
struct ShiftRight {
    template <class T>
    T operator()(T a, std::uint32_t count) const {
        if (count >= 8 * sizeof(T)) return T(a < 0 ? -1 : 0);
        return T(a >> count);
    }
};

/// 64 bits of which the result is the upper or the lower half, after a shift.
template <bool kLeft, bool kClamps>
struct Funnel {
    std::uint32_t operator()(std::uint32_t low, std::uint32_t high, std::uint32_t count) const {
        const std::uint64_t both = std::uint64_t(high) << 32 | low;
        count = kClamps ? std::min(count, 32u) : count & 31;
        return kLeft ? std::uint32_t(both << count >> 32) : std::uint32_t(both >> count);
    }
};

/// One bit of a truth table for every combination of three bits.
void logic3(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const std::uint32_t a = warp.lanes<std::uint32_t>(op.source(0))[lane],
                            b = warp.lanes<std::uint32_t>(op.source(1))[lane],
                            c = warp.lanes<std::uint32_t>(op.source(2))[lane];
        std::uint32_t value = 0;
        for (int i = 0; i < 8; ++i)
            if (op.immediate >> i & 1)
                value |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        warp.lanes<std::uint32_t>(op.result())[lane] = value;
    });
}

/// Each byte of the result is one of the 8 bytes of a and b, or its sign.
struct Permute {
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t chosen) const {
        const std::uint64_t both = std::uint64_t(b) << 32 | a;
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t selector = chosen >> (4 * i) & 15;
            std::uint32_t byte = std::uint32_t(both >> (8 * (selector & 7))) & 0xff;
            if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
            value |= byte << (8 * i);
        }
        return value;
    }
};

template <class T>
std::uint64_t field_mask(std::uint32_t length) {
    return length >= 8 * sizeof(T) ? ~std::uint64_t(0) : (std::uint64_t(1) << length) - 1;
}

template <class T>
void extract_field(Warp& warp, const Op& op, Mask mask) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    for_lanes(mask, [&](int lane) {
        const T a = warp.lanes<T>(op.source(0))[lane];
        const std::uint32_t first = warp.lanes<std::uint32_t>(op.source(1))[lane] & 0xff;
        const std::uint32_t length = warp.lanes<std::uint32_t>(op.source(2))[lane] & 0xff;
        std::uint64_t field =
            first >= kBits ? 0 : std::uint64_t(std::make_unsigned_t<T>(a)) >> first;
        field &= field_mask<T>(length);
        const std::uint32_t last = std::min(first + length, kBits);
        const bool negative = std::is_signed_v<T> && length && (a >> (last - 1) & 1);
        const std::uint32_t kept = first >= kBits ? 0 : last - first;
        if (negative) field |= ~field_mask<T>(kept);
        warp.lanes<T>(op.result())[lane] = T(field);
    });
}

template <class T>
void insert_field(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        const T a = warp.lanes<T>(op.source(0))[lane], b = warp.lanes<T>(op.source(1))[lane];
        const std::uint32_t first = warp.lanes<std::uint32_t>(op.source(2))[lane] & 0xff;
        const std::uint32_t length = warp.lanes<std::uint32_t>(op.source(3))[lane] & 0xff;
        const std::uint64_t field = first >= 8 * sizeof(T) ? 0 : field_mask<T>(length) << first;
        const std::uint64_t shifted = first >= 8 * sizeof(T) ? 0 : std::uint64_t(a) << first;
        warp.lanes<T>(op.result())[lane] = T((b & ~field) | (shifted & field));
    });
}

template <class T>
struct Reverse {
    T operator()(T a) const {
        T value = 0;
        for (std::size_t i = 0; i < 8 * sizeof(T); ++i)
            value |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
        return value;
    }
};

/// A count of 32 bits from a value of any width.
template <class T, class F>
void count(Warp& warp, const Op& op, Mask mask) {
    const T* a = warp.lanes<T>(op.source(0));
    std::uint32_t values[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = F{}(a[lane]);
    store_lanes(warp.lanes<std::uint32_t>(op.result()), values, mask);
}

struct Ones {
    template <class T>
    std::uint32_t operator()(T a) const {
        return std::uint32_t(std::popcount(a));
    }
};
struct LeadingZeros {
    template <class T>
    std::uint32_t operator()(T a) const {
        return std::uint32_t(std::countl_zero(a));
    }
};

/// The position of the highest bit that differs from the sign, or how far it is from the top.
template <class T, bool kShiftAmount>
struct FindHighest {
    std::uint32_t operator()(T a) const {
        using U = std::make_unsigned_t<T>;
        const U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
        if (!bits) return 0xffffffffu;
        const auto zeros = std::uint32_t(std::countl_zero(bits));
        return kShiftAmount ? zeros : std::uint32_t(8 * sizeof(T) - 1) - zeros;
    }
};

template <class Operation>
void predicate_binary(Warp& warp, const Op& op, Mask mask) {
    Mask& to = warp.mask(op.result());
    const Mask value = Operation{}(warp.mask(op.source(0)), warp.mask(op.source(1)));
    to = (to & ~mask) | (value & mask);
}

void predicate_not(Warp& warp, const Op& op, Mask mask) {
    Mask& to = warp.mask(op.result());
    to = (to & ~mask) | (~warp.mask(op.source(0)) & mask);
}

template <class Operation>
void decode_logic(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    emit_same(decoder, instruction,
              type == Type::pred ? predicate_binary<Operation> : integer_binary<Operation>(type),
              type, 2);
}

void decode_not(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    emit_same(decoder, instruction, type == Type::pred ? predicate_not : integer_unary<Not>(type),
              type, 1);
}

void decode_cnot(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    emit_same(decoder, instruction, integer_unary<CompareWithZero>(type), type, 1);
}

template <class Operation>
void decode_shift(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    decoder.require(instruction, 3);
    const auto& at = instruction.operands;
    decoder.emit(
        instruction,
        for_integer(type, [](auto zero) -> Handler { return shift<decltype(zero), Operation>; }),
        {decoder.result(at[0], type)},
        {decoder.source(at[1], type), decoder.source(at[2], Type::u32)});
}

void decode_funnel(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const bool left = modifiers.take("l");
    if (!left) modifiers.take("r");
    const bool clamps = modifiers.take("clamp");
    modifiers.take("wrap");
    using U = std::uint32_t;
    const Handler run =
        left ? (clamps ? ternary<U, Funnel<true, true>> : ternary<U, Funnel<true, false>>)
             : (clamps ? ternary<U, Funnel<false, true>> : ternary<U, Funnel<false, false>>);
    emit_same(decoder, instruction, run, modifiers.type(), 3);
}

void decode_logic3(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    decoder.require(instruction, 5);
    const auto& at = instruction.operands;
    decoder
        .emit(
            instruction, logic3, {decoder.result(at[0], type)},
            {decoder.source(at[1], type), decoder.source(at[2], type), decoder.source(at[3], type)})
        .immediate = decoder.integer(at[4]);
}

void decode_permute(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    emit_same(decoder, instruction, ternary<std::uint32_t, Permute>, modifiers.type(), 3);
}

void decode_extract(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    decoder.require(instruction, 4);
    const auto& at = instruction.operands;
    decoder.emit(
        instruction,
        for_integer(type, [](auto zero) -> Handler { return extract_field<decltype(zero)>; }),
        {decoder.result(at[0], type)},
        {decoder.source(at[1], type), decoder.source(at[2], Type::u32),
         decoder.source(at[3], Type::u32)});
}

void decode_insert(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    decoder.require(instruction, 5);
    const auto& at = instruction.operands;
    decoder.emit(instruction,
                 type == Type::b32 ? insert_field<std::uint32_t> : insert_field<std::uint64_t>,
                 {decoder.result(at[0], type)},
                 {decoder.source(at[1], type), decoder.source(at[2], type),
                  decoder.source(at[3], Type::u32), decoder.source(at[4], Type::u32)});
}

void decode_reverse(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    const Handler run = type == Type::b32 ? unary<std::uint32_t, Reverse<std::uint32_t>>
                                          : unary<std::uint64_t, Reverse<std::uint64_t>>;
    emit_same(decoder, instruction, run, type, 1);
}

void emit_count(Decoder& decoder, const Instruction& instruction, Handler run, Type type) {
    decoder.require(instruction, 2);
    decoder.emit(instruction, run, {decoder.result(instruction.operands[0], Type::u32)},
                 {decoder.source(instruction.operands[1], type)});
}

template <class F>
void decode_count(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const Type type = modifiers.type();
    emit_count(decoder, instruction,
               type == Type::b32 ? count<std::uint32_t, F> : count<std::uint64_t, F>, type);
}

void decode_find(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const bool amount = modifiers.take("shiftamt");
    const Type type = modifiers.type();
    const Handler run = for_integer(type, [&](auto zero) -> Handler {
        using T = decltype(zero);
        return amount ? count<T, FindHighest<T, true>> : count<T, FindHighest<T, false>>;
    });
    emit_count(decoder, instruction, run, type);
}

}  // namespace

void add_bits(OpcodeTable& table) {
    table["and"] = decode_logic<And>;
    table["or"] = decode_logic<Or>;
    table["xor"] = decode_logic<Xor>;
    table["not"] = decode_not;
    table["cnot"] = decode_cnot;
    table["shl"] = decode_shift<ShiftLeft>;
    table["shr"] = decode_shift<ShiftRight>;
    table["shf"] = decode_funnel;
    table["lop3"] = decode_logic3;
    table["prmt"] = decode_permute;
    table["bfe"] = decode_extract;
    table["bfi"] = decode_insert;
    table["brev"] = decode_reverse;
    table["popc"] = decode_count<Ones>;
    table["clz"] = decode_count<LeadingZeros>;
    table["bfind"] = decode_find;
}

}  // namespace fovea::ptx
