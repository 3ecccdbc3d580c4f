// cvt: between whole numbers and floating-point numbers of every width.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codegen/ptx/instructions/arithmetic.h"
#include "codegen/ptx/instructions/half.h"

namespace fovea::ptx {
namespace {

/// How to convert, in Op::immediate.
struct Manner {
    std::uint8_t rounding = 0;     // Rounding
    bool to_whole = false;         // float to float of whole value
    bool saturated = false;
    bool flushed = false;
    bool relu = false;

    static Manner of(const Op& op) {
        const std::int64_t bits = op.immediate;
        return {std::uint8_t(bits & 3), bool(bits & 4), bool(bits & 8), bool(bits & 16),
                bool(bits & 32)};
    }
    std::int64_t packed() const {
        return rounding | to_whole << 2 | saturated << 3 | flushed << 4 | relu << 5;
    }
};

/// Lanes of 16 bits that hold floating-point numbers.
struct F16 {
    std::uint16_t bits;
};
struct Bf16 {
    std::uint16_t bits;
};

double whole(double x, Manner manner) {
    switch (Rounding(manner.rounding)) {
        case Rounding::zero: return std::trunc(x);
        case Rounding::down: return std::floor(x);
        case Rounding::up: return std::ceil(x);
        default: return std::nearbyint(x);
    }
}

/// What arithmetic of the host can read.
template <class From>
auto readable(From a, Manner manner) {
    if constexpr (std::is_same_v<From, F16>) return from_f16(a.bits);
    else if constexpr (std::is_same_v<From, Bf16>) return from_bf16(a.bits);
    else if constexpr (std::is_same_v<From, float>) {
        const bool tiny = std::fabs(a) < std::numeric_limits<float>::min();
        return manner.flushed && tiny ? std::copysign(0.0f, a) : a;
    } else return a;
}

template <class To, class From>
To to_integer(From a, Manner manner) {
    using Limits = std::numeric_limits<To>;
    if constexpr (std::is_floating_point_v<From>) {
        if (a != a) return 0;
        const double value = whole(double(a), manner);
        if (value <= double(Limits::min())) return Limits::min();
        if (value >= double(Limits::max())) return Limits::max();
        return To(value);
    } else {
        if (manner.saturated) {
            const __int128 wide = a;
            if (wide < Limits::min()) return Limits::min();
            if (wide > Limits::max()) return Limits::max();
        }
        return To(a);
    }
}

template <class From>
float to_float(From a, Manner manner) {
    if constexpr (std::is_same_v<From, double>) {
        const float nearest = float(a);
        const auto rounding = Rounding(manner.rounding);
        const bool above = double(nearest) > a, below = double(nearest) < a;
        const bool down = rounding == Rounding::down || (rounding == Rounding::zero && a > 0);
        const bool up = rounding == Rounding::up || (rounding == Rounding::zero && a < 0);
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        if (down && above) return std::nextafter(nearest, -kInfinity);
        if (up && below) return std::nextafter(nearest, kInfinity);
        return nearest;
    } else {
        return float(a);
    }
}

template <class To, class From>
To converted(From from, Manner manner) {
    auto a = readable(from, manner);
    if constexpr (std::is_floating_point_v<decltype(a)>) {
        if (manner.relu) a = a > 0 ? a : decltype(a)(0);
        if (manner.to_whole) a = decltype(a)(whole(double(a), manner));
        if (manner.saturated && !std::is_integral_v<To>)
            a = a > 0 ? (a < 1 ? a : decltype(a)(1)) : decltype(a)(0);
    }
    if constexpr (std::is_same_v<To, F16>) return {to_f16(double(a), Rounding(manner.rounding))};
    else if constexpr (std::is_same_v<To, Bf16>)
        return {to_bf16(double(a), Rounding(manner.rounding))};
    else if constexpr (std::is_integral_v<To>) return to_integer<To>(a, manner);
    else if constexpr (std::is_same_v<To, float>) return to_float(a, manner);
    else return To(a);
}

/// Registers may be wider than the types: their low bits are read, and results are extended.
template <class To, class From>
void convert(Warp& warp, const Op& op, Mask mask) {
    const Manner manner = Manner::of(op);
    const Slot &from = op.source(), &to = op.result();
    const std::byte* read = warp.registers.data() + from.at;
    for_lanes(mask, [&](int lane) {
        From a;
        std::memcpy(&a, read + std::size_t(lane) * from.bytes(), sizeof a);
        const To value = converted<To>(a, manner);
        if (to.bytes() == sizeof value) {
            std::memcpy(warp.registers.data() + to.at + std::size_t(lane) * sizeof value, &value,
                        sizeof value);
        } else if constexpr (std::is_integral_v<To>) {
            warp.set_bits(to, lane, std::uint64_t(std::int64_t(value)));
        } else {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof value);
            warp.set_bits(to, lane, bits);
        }
    });
}

template <class To>
Handler from_type(Type from) {
    switch (from) {
        case Type::u8: return convert<To, std::uint8_t>;
        case Type::s8: return convert<To, std::int8_t>;
        case Type::u16: return convert<To, std::uint16_t>;
        case Type::s16: return convert<To, std::int16_t>;
        case Type::u32: return convert<To, std::uint32_t>;
        case Type::s32: return convert<To, std::int32_t>;
        case Type::u64: return convert<To, std::uint64_t>;
        case Type::s64: return convert<To, std::int64_t>;
        case Type::f16: return convert<To, F16>;
        case Type::bf16: return convert<To, Bf16>;
        case Type::f32: return convert<To, float>;
        case Type::f64: return convert<To, double>;
        default: return nullptr;
    }
}

Handler conversion(Type to, Type from) {
    switch (to) {
        case Type::u8: return from_type<std::uint8_t>(from);
        case Type::s8: return from_type<std::int8_t>(from);
        case Type::u16: return from_type<std::uint16_t>(from);
        case Type::s16: return from_type<std::int16_t>(from);
        case Type::u32: return from_type<std::uint32_t>(from);
        case Type::s32: return from_type<std::int32_t>(from);
        case Type::u64: return from_type<std::uint64_t>(from);
        case Type::s64: return from_type<std::int64_t>(from);
        case Type::f16: return from_type<F16>(from);
        case Type::bf16: return from_type<Bf16>(from);
        case Type::f32: return from_type<float>(from);
        case Type::f64: return from_type<double>(from);
        default: return nullptr;
    }
}

/// Two floats to a pair of 16-bit numbers: the first operand to the upper half.
template <bool kBf16>
void convert_pair(Warp& warp, const Op& op, Mask mask) {
    const Manner manner = Manner::of(op);
    const float* high = warp.lanes<float>(op.source(0));
    const float* low = warp.lanes<float>(op.source(1));
    const auto narrow = [&](float x) {
        if (manner.relu && !(x > 0)) x = 0;
        const auto rounding = Rounding(manner.rounding);
        return kBf16 ? to_bf16(x, rounding) : to_f16(x, rounding);
    };
    for_lanes(mask, [&](int lane) {
        warp.lanes<std::uint32_t>(op.result())[lane] =
            std::uint32_t(narrow(high[lane])) << 16 | narrow(low[lane]);
    });
}

struct ToTf32 {
    std::uint32_t operator()(std::uint32_t bits) const {
        return to_tf32(std::bit_cast<float>(bits));
    }
};

void decode_convert(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers) {
    const auto& at = instruction.operands;
    const Type to = modifiers.type();
    const Type from = modifiers.type();
    Manner manner;
    if (to == Type::tf32) {
        if (!modifiers.take("rna")) decoder.fail("cvt to tf32 without .rna");
        emit_same(decoder, instruction, unary<std::uint32_t, ToTf32>, Type::b32, 1);
        return;
    }
    if (const auto rounding = modifiers.take_one({"rn", "rz", "rm", "rp"})) {
        manner.rounding = std::uint8_t(*rounding);
    } else if (const auto integral = modifiers.take_one({"rni", "rzi", "rmi", "rpi"})) {
        manner.rounding = std::uint8_t(*integral);
        manner.to_whole = true;
    }
    manner.saturated = modifiers.take("sat");
    manner.flushed = modifiers.take("ftz");
    manner.relu = modifiers.take("relu");
    if (to == Type::bf16x2 || to == Type::f16x2) {
        decoder.require(instruction, 3);
        decoder
            .emit(instruction, to == Type::bf16x2 ? convert_pair<true> : convert_pair<false>,
                  {decoder.result(at[0], Type::b32)},
                  {decoder.source(at[1], Type::f32), decoder.source(at[2], Type::f32)})
            .immediate = manner.packed();
        return;
    }
    decoder.require(instruction, 2);
    decoder
        .emit(instruction, conversion(to, from), {decoder.result(at[0], to, true)},
              {decoder.source(at[1], from, true)})
        .immediate = manner.packed();
}

}  // namespace

void add_convert(OpcodeTable& table) { table["cvt"] = decode_convert; }

}  // namespace fovea::ptx
