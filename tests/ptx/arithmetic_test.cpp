// Every opcode that works lane by lane, against the host's arithmetic.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "codegen/ptx/instructions/half.h"
#include "tests/ptx/kernel_text.h"

namespace fovea::ptx::test {
namespace {

/// y[i] = body(a = x[2 i], b = x[2 i + 1]) for 32 lanes. The body reads %r1, %r2 (or %d, %f, %g,
/// %h) and writes register 0 of the letter of the result.
template <class T, class U>
std::vector<U> run_pairs(const std::string& body, const std::vector<T>& x, char letter, char out) {
    const std::string load = sizeof(T) == 2 ? "b16" : sizeof(T) == 4 ? "b32" : "b64";
    const std::string store = sizeof(U) == 2 ? "b16" : sizeof(U) == 4 ? "b32" : "b64";
    const std::string in(1, letter), result(1, out);
    return run_lanes<T, U>(
        "mul.wide.u32 %d9, %t, " + std::to_string(2 * sizeof(T)) + ";\nadd.s64 %d9, %x, %d9;\n" +
            "ld.global." + load + " %" + in + "1, [%d9];\nld.global." + load + " %" + in +
            "2, [%d9+" + std::to_string(sizeof(T)) + "];\n" + body + "\nmul.wide.u32 %d8, %t, " +
            std::to_string(sizeof(U)) + ";\nadd.s64 %d8, %y, %d8;\nst.global." + store +
            " [%d8], %" + result + "0;\n",
        x, 32);
}

template <class T>
std::vector<T> samples() {
    std::vector<T> x;
    std::uint64_t state = 88172645463325252u;
    const T special[] = {
        T(0),  T(1), T(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
        T(31), T(7), T(64)};
    for (int i = 0; i < 64; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x.push_back(i % 3 == 0 ? special[state % 8] : T(state));
    }
    return x;
}

template <class T, class U = T>
void check(const std::string& instruction, char letter, char out,
           std::type_identity_t<std::function<U(T, T)>> expected, std::vector<T> x = samples<T>()) {
    CAPTURE(instruction);
    const std::vector<U> y = run_pairs<T, U>(instruction, x, letter, out);
    for (std::size_t i = 0; i < 32; ++i) {
        CAPTURE(x[2 * i]);
        CAPTURE(x[2 * i + 1]);
        CHECK(y[i] == expected(x[2 * i], x[2 * i + 1]));
    }
}

using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;

std::vector<float> floats() {
    std::vector<float> x;
    for (int i = 0; i < 64; ++i)
        x.push_back(float(i % 7 == 0 ? 0 : std::sin(i * 1.7) * std::exp2(i % 11 - 5)));
    x[6] = std::numeric_limits<float>::infinity();
    x[13] = std::numeric_limits<float>::quiet_NaN();
    x[20] = -0.0f;
    return x;
}

/// Equal, or both no number.
void check_floats(const std::string& instruction, std::function<float(float, float)> expected,
                  float tolerance = 0) {
    CAPTURE(instruction);
    const std::vector<float> x = floats(), y = run_pairs<float, float>(instruction, x, 'f', 'f');
    for (std::size_t i = 0; i < 32; ++i) {
        CAPTURE(x[2 * i]);
        CAPTURE(x[2 * i + 1]);
        const float wanted = expected(x[2 * i], x[2 * i + 1]);
        const bool same = y[i] == wanted || (std::isnan(y[i]) && std::isnan(wanted));
        CHECK((same || std::fabs(y[i] - wanted) <= tolerance * std::fabs(wanted)));
    }
}

}  // namespace

TEST_CASE("whole numbers of 32 bits") {
    check<u32>("add.u32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return a + b; });
    check<u32>("sub.s32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return a - b; });
    check<u32>("mul.lo.s32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return a * b; });
    check<u32>("mul.hi.u32 %r0, %r1, %r2;", 'r', 'r',
               [](u32 a, u32 b) { return u32(u64(a) * b >> 32); });
    check<i32>("mul.hi.s32 %r0, %r1, %r2;", 'r', 'r',
               [](i32 a, i32 b) { return i32(i64(a) * b >> 32); });
    check<u32, u64>("mul.wide.u32 %d0, %r1, %r2;", 'r', 'd',
                    [](u32 a, u32 b) { return u64(a) * b; });
    check<i32, i64>("mul.wide.s32 %d0, %r1, %r2;", 'r', 'd',
                    [](i32 a, i32 b) { return i64(a) * b; });
    check<u32>("mad.lo.u32 %r0, %r1, %r2, 5;", 'r', 'r', [](u32 a, u32 b) { return a * b + 5; });
    check<i32, i64>("mad.wide.s32 %d0, %r1, %r2, -9;", 'r', 'd',
                    [](i32 a, i32 b) { return i64(a) * b - 9; });
    check<u32>("div.u32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return b ? a / b : ~0u; });
    check<i32>("div.s32 %r0, %r1, %r2;", 'r', 'r',
               [](i32 a, i32 b) { return b ? i32(i64(a) / b) : -1; });
    check<i32>("rem.s32 %r0, %r1, %r2;", 'r', 'r',
               [](i32 a, i32 b) { return b ? i32(i64(a) % b) : a; });
    check<i32>("min.s32 %r0, %r1, %r2;", 'r', 'r', [](i32 a, i32 b) { return std::min(a, b); });
    check<u32>("max.u32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return std::max(a, b); });
    check<u32>("neg.s32 %r0, %r1;", 'r', 'r', [](u32 a, u32) { return 0 - a; });
    check<i32>("abs.s32 %r0, %r1;", 'r', 'r',
               [](i32 a, i32) { return i32(u32(std::abs(i64(a)))); });
    check<u32>("sad.u32 %r0, %r1, %r2, 3;", 'r', 'r',
               [](u32 a, u32 b) { return (a > b ? a - b : b - a) + 3; });
    check<i32>("add.sat.s32 %r0, %r1, %r2;", 'r', 'r',
               [](i32 a, i32 b) { return i32(std::clamp<i64>(i64(a) + b, INT32_MIN, INT32_MAX)); });
    check<i32>("mul24.lo.s32 %r0, %r1, %r2;", 'r', 'r', [](i32 a, i32 b) {
        return i32(u32(i64(i32(u32(a) << 8) >> 8) * (i32(u32(b) << 8) >> 8)));
    });
}

TEST_CASE("whole numbers of 16 and 64 bits") {
    check<u64>("add.s64 %d0, %d1, %d2;", 'd', 'd', [](u64 a, u64 b) { return a + b; });
    check<u64>("mul.lo.s64 %d0, %d1, %d2;", 'd', 'd', [](u64 a, u64 b) { return a * b; });
    check<u64>("mul.hi.u64 %d0, %d1, %d2;", 'd', 'd',
               [](u64 a, u64 b) { return u64((unsigned __int128)(a)*b >> 64); });
    check<i64>("div.s64 %d0, %d1, %d2;", 'd', 'd', [](i64 a, i64 b) {
        return b == 0 ? -1 : b == -1 ? i64(0 - u64(a)) : a / b;
    });
    check<i64>("max.s64 %d0, %d1, %d2;", 'd', 'd', [](i64 a, i64 b) { return std::max(a, b); });
    check<u16>("mul.lo.s16 %h0, %h1, %h2;", 'h', 'h', [](u16 a, u16 b) { return u16(u32(a) * b); });
    check<u16>("sub.s16 %h0, %h1, %h2;", 'h', 'h', [](u16 a, u16 b) { return u16(a - b); });
    check<u16>("shr.s16 %h0, %h1, 3;", 'h', 'h',
               [](u16 a, u16) { return u16(std::int16_t(a) >> 3); });
}

TEST_CASE("bits") {
    check<u32>("and.b32 %r0, %r1, %r2;", 'r', 'r', [](u32 a, u32 b) { return a & b; });
    check<u64>("xor.b64 %d0, %d1, %d2;", 'd', 'd', [](u64 a, u64 b) { return a ^ b; });
    check<u32>("not.b32 %r0, %r1;", 'r', 'r', [](u32 a, u32) { return ~a; });
    check<u32>("cnot.b32 %r0, %r1;", 'r', 'r', [](u32 a, u32) { return u32(a == 0); });
    check<u32>("shl.b32 %r0, %r1, %r2;", 'r', 'r',
               [](u32 a, u32 b) { return b > 31 ? 0 : a << b; });
    check<u32>("shr.u32 %r0, %r1, %r2;", 'r', 'r',
               [](u32 a, u32 b) { return b > 31 ? 0 : a >> b; });
    check<i32>("shr.s32 %r0, %r1, %r2;", 'r', 'r',
               [](i32 a, i32 b) { return a >> std::min<u32>(u32(b), 31); });
    check<u32>("shf.l.wrap.b32 %r0, %r1, %r2, 9;", 'r', 'r',
               [](u32 a, u32 b) { return u32((u64(b) << 32 | a) << 9 >> 32); });
    check<u32>("shf.r.clamp.b32 %r0, %r1, %r2, 40;", 'r', 'r', [](u32, u32 b) { return b; });
    check<u32>("lop3.b32 %r0, %r1, %r2, 0x0f0f0f0f, 0xca;", 'r', 'r',
               [](u32 a, u32 b) { return (a & b) | (~a & 0x0f0f0f0fu); });
    check<u32>("prmt.b32 %r0, %r1, %r2, 0x7193;", 'r', 'r', [](u32 a, u32 b) {
        const u32 sign = a >> 15 & 1 ? 0xff : 0;
        return (a >> 24) | sign << 8 | (a >> 8 & 0xff) << 16 | (b >> 24) << 24;
    });
    check<u32>("bfe.u32 %r0, %r1, 5, 9;", 'r', 'r', [](u32 a, u32) { return a >> 5 & 511; });
    check<i32>("bfe.s32 %r0, %r1, 5, 9;", 'r', 'r',
               [](i32 a, i32) { return i32(u32(a) << 18) >> 23; });
    check<i32>("bfe.s32 %r0, %r1, 28, 9;", 'r', 'r', [](i32 a, i32) { return a >> 28; });
    check<u32>("bfi.b32 %r0, %r1, %r2, 8, 4;", 'r', 'r',
               [](u32 a, u32 b) { return (b & ~0xf00u) | (a & 15) << 8; });
    check<u32>("brev.b32 %r0, %r1;", 'r', 'r', [](u32 a, u32) {
        u32 value = 0;
        for (int i = 0; i < 32; ++i) value |= (a >> i & 1) << (31 - i);
        return value;
    });
    check<u32>("popc.b32 %r0, %r1;", 'r', 'r', [](u32 a, u32) { return u32(std::popcount(a)); });
    check<u64, u32>("clz.b64 %r0, %d1;", 'd', 'r',
                    [](u64 a, u64) { return u32(std::countl_zero(a)); });
    check<u32>("bfind.u32 %r0, %r1;", 'r', 'r',
               [](u32 a, u32) { return a ? 31u - u32(std::countl_zero(a)) : ~0u; });
}

TEST_CASE("comparisons and selections") {
    check<u32>("setp.lt.s32 %p1, %r1, %r2; selp.b32 %r0, 7, 9, %p1;", 'r', 'r',
               [](u32 a, u32 b) { return i32(a) < i32(b) ? 7u : 9u; });
    check<u32>("setp.hs.u32 %p1, %r1, %r2; selp.b32 %r0, %r1, %r2, %p1;", 'r', 'r',
               [](u32 a, u32 b) { return std::max(a, b); });
    check<u32>(
        "setp.eq.u32 %p2, %r1, 0; setp.gt.or.u32 %p1|%p3, %r1, %r2, %p2; selp.u32 %r3, 1, 0, %p1;"
        "selp.u32 %r4, 2, 0, %p3; add.u32 %r0, %r3, %r4;",
        'r', 'r', [](u32 a, u32 b) { return u32(a > b || a == 0) + 2 * u32(a <= b || a == 0); });
    check<u32>(
        "setp.eq.u32 %p0, %r2, 0; setp.gt.and.u32 %p1, %r1, 3, !%p0; selp.u32 %r0, 1, 0, %p1;", 'r',
        'r', [](u32 a, u32 b) { return u32(a > 3 && b != 0); });
    check<u32>("set.gt.u32.u32 %r0, %r1, %r2;", 'r', 'r',
               [](u32 a, u32 b) { return a > b ? ~0u : 0u; });
    check<u32>("slct.u32.s32 %r0, 4, 5, %r1;", 'r', 'r',
               [](u32 a, u32) { return i32(a) >= 0 ? 4u : 5u; });
    check_floats("setp.ltu.f32 %p1, %f1, %f2; selp.f32 %f0, 0f3F800000, 0f00000000, %p1;",
                 [](float a, float b) { return !(a >= b) ? 1.0f : 0.0f; });
    check_floats("setp.ne.f32 %p1, %f1, %f2; selp.f32 %f0, 0f3F800000, 0f00000000, %p1;",
                 [](float a, float b) { return a < b || a > b ? 1.0f : 0.0f; });
    check_floats("setp.nan.f32 %p1, %f1, %f2; selp.f32 %f0, 0f3F800000, 0f00000000, %p1;",
                 [](float a, float b) { return a != a || b != b ? 1.0f : 0.0f; });
    check_floats("testp.infinite.f32 %p1, %f1; selp.f32 %f0, %f2, 0f40000000, %p1;",
                 [](float a, float b) { return std::isinf(a) ? b : 2.0f; });
}

TEST_CASE("floats") {
    check_floats("add.f32 %f0, %f1, %f2;", [](float a, float b) { return a + b; });
    check_floats("sub.rn.ftz.f32 %f0, %f1, %f2;", [](float a, float b) { return a - b; });
    check_floats("mul.rn.f32 %f0, %f1, %f2;", [](float a, float b) { return a * b; });
    check_floats("fma.rn.f32 %f0, %f1, %f2, 0fBF8CCCCD;",
                 [](float a, float b) { return std::fma(a, b, -1.1f); });
    check_floats("fma.rn.ftz.f32 %f0, %f1, %f2, %f1;",
                 [](float a, float b) { return std::fma(a, b, a); });
    check_floats("div.rn.f32 %f0, %f1, %f2;", [](float a, float b) { return a / b; });
    check_floats("div.full.ftz.f32 %f0, %f1, %f2;", [](float a, float b) { return a / b; }, 1e-6f);
    check_floats("min.f32 %f0, %f1, %f2;", [](float a, float b) { return std::fmin(a, b); });
    check_floats("max.NaN.f32 %f0, %f1, %f2;",
                 [](float a, float b) { return a != a || b != b ? NAN : std::fmax(a, b); });
    check_floats("neg.f32 %f0, %f1;", [](float a, float) { return -a; });
    check_floats("abs.ftz.f32 %f0, %f1;", [](float a, float) { return std::fabs(a); });
    check_floats("copysign.f32 %f0, %f1, %f2;",
                 [](float a, float b) { return std::copysign(b, a); });
    check_floats("rcp.approx.ftz.f32 %f0, %f1;", [](float a, float) { return 1 / a; }, 1e-6f);
    check_floats("sqrt.rn.f32 %f0, %f1;", [](float a, float) { return std::sqrt(a); });
    check_floats(
        "rsqrt.approx.f32 %f0, %f1;", [](float a, float) { return 1 / std::sqrt(a); }, 1e-6f);
    check_floats(
        "ex2.approx.ftz.f32 %f0, %f1;", [](float a, float) { return std::exp2(a); }, 1e-6f);
    check_floats("lg2.approx.f32 %f0, %f1;", [](float a, float) { return std::log2(a); }, 1e-6f);
    check_floats("sin.approx.f32 %f0, %f1;", [](float a, float) { return std::sin(a); }, 1e-6f);
    check_floats("cos.approx.f32 %f0, %f1;", [](float a, float) { return std::cos(a); }, 1e-6f);
    check_floats("tanh.approx.f32 %f0, %f1;", [](float a, float) { return std::tanh(a); }, 1e-6f);
    check_floats("add.sat.f32 %f0, %f1, %f2;", [](float a, float b) {
        const float sum = a + b;
        return sum > 0 ? std::fmin(sum, 1.0f) : 0.0f;
    });
    check<u32>(
        "mul.ftz.f32 %r0, %r1, 0f00000001;", 'r', 'r', [](u32, u32) { return 0u; },
        std::vector<u32>(64, 0x3f800000));
    CHECK_THROWS_AS(parse(kernel_text("add.rz.f32 %f0, %f1, %f2;")), ParseError);
}

TEST_CASE("doubles") {
    std::vector<double> x;
    for (int i = 0; i < 64; ++i) x.push_back(std::cos(i) * std::exp2(i % 13));
    check<double>(
        "fma.rn.f64 %g0, %g1, %g2, 0d4000000000000000;", 'g', 'g',
        [](double a, double b) { return std::fma(a, b, 2.0); }, x);
    check<double>(
        "div.rn.f64 %g0, %g1, %g2;", 'g', 'g', [](double a, double b) { return a / b; }, x);
    check<double>("rcp.rn.f64 %g0, %g1;", 'g', 'g', [](double a, double) { return 1 / a; }, x);
    check<double, float>(
        "cvt.rn.f32.f64 %f0, %g1;", 'g', 'f', [](double a, double) { return float(a); }, x);
    check<double, float>(
        "cvt.rz.f32.f64 %f0, %g1;", 'g', 'f',
        [](double a, double) {
            const float near = float(a);
            return std::fabs(double(near)) > std::fabs(a) ? std::nextafter(near, 0.0f) : near;
        },
        x);
}

TEST_CASE("numbers of 16 bits, alone and in pairs") {
    for (u32 bits = 0; bits < 0x10000; bits += 7) {
        const float value = from_f16(u16(bits));
        if (!std::isnan(value)) CHECK(to_f16(value) == u16(bits));
        const float other = from_bf16(u16(bits));
        if (!std::isnan(other)) CHECK(to_bf16(other) == u16(bits));
    }
    CHECK(from_f16(0x3c01) == 1.0f + 1.0f / 1024);
    CHECK(to_f16(1.0 + 1.0 / 2048) == 0x3c00);
    CHECK(to_f16(1.0 + 3.0 / 2048) == 0x3c02);
    CHECK(to_f16(65520) == 0x7c00);
    CHECK(to_f16(65519) == 0x7bff);
    CHECK(to_bf16(1.0 + 1.0 / 256) == 0x3f80);
    CHECK(to_bf16(1.0 + 3.0 / 256, Rounding::zero) == 0x3f81);
    CHECK(to_tf32(std::bit_cast<float>(0x3f801000u)) == 0x3f802000u);
    std::vector<u16> x;
    for (int i = 0; i < 64; ++i) x.push_back(to_f16(std::sin(i) * 3));
    check<u16>(
        "add.rn.f16 %h0, %h1, %h2;", 'h', 'h',
        [](u16 a, u16 b) { return to_f16(double(from_f16(a)) + from_f16(b)); }, x);
    check<u16>(
        "fma.rn.f16 %h0, %h1, %h2, %h1;", 'h', 'h',
        [](u16 a, u16 b) { return to_f16(double(from_f16(a)) * from_f16(b) + from_f16(a)); }, x);
    check<u16, float>("cvt.f32.f16 %f0, %h1;", 'h', 'f', [](u16 a, u16) { return from_f16(a); }, x);
    check<u16>(
        "setp.gt.f16 %p1, %h1, %h2; selp.b16 %h0, %h1, %h2, %p1;", 'h', 'h',
        [](u16 a, u16 b) { return from_f16(a) > from_f16(b) ? a : b; }, x);
    check<u32>(
        "fma.rn.bf16x2 %r0, %r1, %r2, %r1;", 'r', 'r',
        [](u32 a, u32 b) {
            u32 both = 0;
            for (int part = 0; part < 32; part += 16) {
                const double p = from_bf16(u16(a >> part)), q = from_bf16(u16(b >> part));
                both |= u32(to_bf16(p * q + p)) << part;
            }
            return both;
        },
        std::vector<u32>(64, 0x3fc04020));
}

TEST_CASE("conversions") {
    check<u32, u64>("cvt.u64.u32 %d0, %r1;", 'r', 'd', [](u32 a, u32) { return u64(a); });
    check<i32, i64>("cvt.s64.s32 %d0, %r1;", 'r', 'd', [](i32 a, i32) { return i64(a); });
    check<u64, u32>("cvt.u32.u64 %r0, %d1;", 'd', 'r', [](u64 a, u64) { return u32(a); });
    check<i32>("cvt.s32.s8 %r0, %r1;", 'r', 'r', [](i32 a, i32) { return i32(std::int8_t(a)); });
    check<i32>("cvt.sat.s8.s32 %r0, %r1;", 'r', 'r',
               [](i32 a, i32) { return std::clamp(a, -128, 127); });
    check<u32, float>("cvt.rn.f32.u32 %f0, %r1;", 'r', 'f', [](u32 a, u32) { return float(a); });
    check<i64, float>("cvt.rn.f32.s64 %f0, %d1;", 'd', 'f', [](i64 a, i64) { return float(a); });
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(float(i * 0.37 - 11.5) * (i % 9 == 0 ? 1e12f : 1));
    const auto clamped = [](double a) {
        return i32(std::clamp(a, double(INT32_MIN), double(INT32_MAX)));
    };
    check<float, i32>(
        "cvt.rzi.s32.f32 %r0, %f1;", 'f', 'r',
        [&](float a, float) { return clamped(std::trunc(a)); }, x);
    check<float, i32>(
        "cvt.rni.s32.f32 %r0, %f1;", 'f', 'r',
        [&](float a, float) { return clamped(std::nearbyint(a)); }, x);
    check<float, u32>(
        "cvt.rmi.u32.f32 %r0, %f1;", 'f', 'r',
        [](float a, float) {
            return u32(std::clamp(std::floor(double(a)), 0.0, double(UINT32_MAX)));
        },
        x);
    check<float>(
        "cvt.rpi.f32.f32 %f0, %f1;", 'f', 'f', [](float a, float) { return std::ceil(a); }, x);
    check<float, u32>(
        "cvt.rn.bf16x2.f32 %r0, %f1, %f2;", 'f', 'r',
        [](float a, float b) { return u32(to_bf16(a)) << 16 | to_bf16(b); }, x);
    check<float, u16>(
        "cvt.rn.relu.bf16.f32 %h0, %f1;", 'f', 'h',
        [](float a, float) { return to_bf16(a > 0 ? a : 0); }, x);
    check<float, u32>(
        "cvt.rna.tf32.f32 %r0, %f1;", 'f', 'r', [](float a, float) { return to_tf32(a); }, x);
}

TEST_CASE("packing and unpacking") {
    check<u32>("mov.b32 {%h1, %h2}, %r1; mov.b32 %r0, {%h2, %h1};", 'r', 'r',
               [](u32 a, u32) { return a << 16 | a >> 16; });
    check<u32, u64>("mov.b64 %d0, {%r1, %r2};", 'r', 'd',
                    [](u32 a, u32 b) { return u64(b) << 32 | a; });
    check<u64, u32>("mov.b64 {_, %r0}, %d1;", 'd', 'r', [](u64 a, u64) { return u32(a >> 32); });
}

}  // namespace fovea::ptx::test
