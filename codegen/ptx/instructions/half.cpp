// f16 and bf16, alone and in pairs: computed in double, which holds every sum and product of them,
// and rounded once.
#include "codegen/ptx/instructions/half.h"

#include <cmath>
#include <limits>

#include "codegen/ptx/instructions/arithmetic.h"

namespace fovea::ptx {

float from_f16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value;
    if (exponent == 0) value = std::ldexp(float(fraction), -24);
    else if (exponent == 31)
        value = fraction ? std::numeric_limits<float>::quiet_NaN()
                         : std::numeric_limits<float>::infinity();
    else
        value = std::bit_cast<float>(std::uint32_t(exponent + 112) << 23 | std::uint32_t(fraction)
                                                                               << 13);
    return bits >> 15 ? -value : value;
}

namespace {

/// x in a format of `digits` significant bits, rounded.
double rounded_to_digits(double x, int digits, int smallest_exponent, Rounding rounding) {
    if (x == 0 || !std::isfinite(x)) return x;
    const int exponent = std::max(std::ilogb(x), smallest_exponent) - (digits - 1);
    const double scaled = std::ldexp(x, -exponent);
    double whole = std::nearbyint(scaled);
    if (rounding == Rounding::zero) whole = std::trunc(scaled);
    if (rounding == Rounding::down) whole = std::floor(scaled);
    if (rounding == Rounding::up) whole = std::ceil(scaled);
    return std::ldexp(whole, exponent);
}

}  // namespace

std::uint16_t to_bf16(double x, Rounding rounding) {
    if (std::isnan(x)) return 0x7fff;
    if (const float single = float(x); rounding == Rounding::nearest && double(single) == x) {
        const auto bits = std::bit_cast<std::uint32_t>(single);
        return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    const double value = rounded_to_digits(x, 8, -126, rounding);
    const double largest = std::ldexp(255.0, 120);
    if (std::fabs(value) > largest && std::isfinite(x) && rounding == Rounding::zero)
        return std::signbit(x) ? 0xff7f : 0x7f7f;
    return std::uint16_t(std::bit_cast<std::uint32_t>(float(value)) >> 16);
}

std::uint16_t to_f16(double x, Rounding rounding) {
    if (std::isnan(x)) return 0x7fff;
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double value = std::fabs(rounded_to_digits(x, 11, -14, rounding));
    if (value > 65504) {
        const bool finite = std::isfinite(x) && rounding == Rounding::zero;
        return std::uint16_t(sign | (finite ? 0x7bff : 0x7c00));
    }
    if (value < std::ldexp(1.0, -14)) return std::uint16_t(sign | unsigned(std::ldexp(value, 24)));
    const int exponent = std::ilogb(value);
    const auto fraction = unsigned(std::ldexp(value, 10 - exponent)) & 1023;
    return std::uint16_t(sign | unsigned(exponent + 15) << 10 | fraction);
}

std::uint32_t to_tf32(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7f800000) == 0x7f800000) return bits;
    return (bits + 0x1000) & ~0x1fffu;
}

namespace {

struct HalfF16 {
    static double read(std::uint16_t bits) { return from_f16(bits); }
    static std::uint16_t write(double x) { return to_f16(x); }
};
struct HalfBf16 {
    static double read(std::uint16_t bits) { return from_bf16(bits); }
    static std::uint16_t write(double x) { return to_bf16(x); }
};

struct HalfAdd {
    double operator()(double a, double b) const { return a + b; }
};
struct HalfSubtract {
    double operator()(double a, double b) const { return a - b; }
};
struct HalfMultiply {
    double operator()(double a, double b) const { return a * b; }
};
struct HalfMultiplyAdd {
    double operator()(double a, double b, double c) const { return a * b + c; }
};
struct MultiplyAddRelu {
    double operator()(double a, double b, double c) const { return std::fmax(a * b + c, 0); }
};
struct HalfNegate {
    double operator()(double a) const { return -a; }
};
struct HalfAbsolute {
    double operator()(double a) const { return std::fabs(a); }
};
struct HalfExp2 {
    double operator()(double a) const { return std::exp2(a); }
};
struct HalfHyperbolicTangent {
    double operator()(double a) const { return std::tanh(a); }
};

/// Applies F to kSources operands, number by number; a lane of type T holds one or two of them.
template <class T, class Format, class F, std::size_t kSources>
void apply(Warp& warp, const Op& op, Mask mask) {
    for_lanes(mask, [&](int lane) {
        T value = 0;
        for (std::size_t part = 0; part < sizeof(T) / 2; ++part) {
            const auto operand = [&](int i) {
                return Format::read(
                    std::uint16_t(warp.lanes<T>(op.source(i))[lane] >> (16 * part)));
            };
            double result;
            if constexpr (kSources == 1) result = F{}(operand(0));
            else if constexpr (kSources == 2) result = F{}(operand(0), operand(1));
            else result = F{}(operand(0), operand(1), operand(2));
            value |= T(T(Format::write(result)) << (16 * part));
        }
        warp.lanes<T>(op.result())[lane] = value;
    });
}

struct HalfRow {
    std::size_t sources;
    Handler f16, bf16, f16x2, bf16x2;
};

template <class F, std::size_t kSources>
HalfRow row() {
    using One = std::uint16_t;
    using Two = std::uint32_t;
    return {kSources, apply<One, HalfF16, F, kSources>, apply<One, HalfBf16, F, kSources>,
            apply<Two, HalfF16, F, kSources>, apply<Two, HalfBf16, F, kSources>};
}

const std::map<std::string_view, HalfRow>& half_rows() {
    static const std::map<std::string_view, HalfRow> table = {
        {"add", row<HalfAdd, 2>()},
        {"sub", row<HalfSubtract, 2>()},
        {"mul", row<HalfMultiply, 2>()},
        {"min", row<Smallest, 2>()},
        {"max", row<Largest, 2>()},
        {"min.NaN", row<Propagating<Smallest>, 2>()},
        {"max.NaN", row<Propagating<Largest>, 2>()},
        {"fma", row<HalfMultiplyAdd, 3>()},
        {"fma.relu", row<MultiplyAddRelu, 3>()},
        {"neg", row<HalfNegate, 1>()},
        {"abs", row<HalfAbsolute, 1>()},
        {"ex2", row<HalfExp2, 1>()},
        {"tanh", row<HalfHyperbolicTangent, 1>()},
    };
    return table;
}

}  // namespace

void decode_half(Decoder& decoder, const Instruction& instruction, Modifiers& modifiers,
                 Type type) {
    modifiers.ignore({"rn", "approx", "ftz"});
    std::string name = instruction.opcode;
    for (const char* suffix : {"NaN", "relu"})
        if (modifiers.take(suffix)) name += std::string(".") + suffix;
    const auto found = half_rows().find(name);
    if (found == half_rows().end()) decoder.fail(instruction.spelling() + " is not interpreted");
    const HalfRow& chosen = found->second;
    const Handler run = type == Type::f16     ? chosen.f16
                        : type == Type::bf16  ? chosen.bf16
                        : type == Type::f16x2 ? chosen.f16x2
                                              : chosen.bf16x2;
    emit_same(decoder, instruction, run, type, chosen.sources);
}

}  // namespace fovea::ptx
