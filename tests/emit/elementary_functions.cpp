// The elementary functions behind one plain function; elementary_functions_test.cpp compiles this
// file for each instruction set.
#include "runtime/cpu/math.h"

using namespace fovea::cpu;

extern "C" void fovea_apply(const char* name, const float* x, const float* y, float* to,
                            long count);

void fovea_apply(const char* name, const float* x, const float* y, float* to, long count) {
    const auto each = [&](auto function) {
        for (i64 i = 0; i < count; i += kLanes) {
            const Lanes lanes = lanes_at(i, count);
            store(to + i, function(load(x + i, lanes), load(y + i, lanes)), lanes);
        }
    };
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("exp")) each([](floats a, floats) { return exp(a); });
    if (is("exp2")) each([](floats a, floats) { return exp2(a); });
    if (is("log")) each([](floats a, floats) { return log(a); });
    if (is("log2")) each([](floats a, floats) { return log2(a); });
    if (is("tanh")) each([](floats a, floats) { return tanh(a); });
    if (is("sigmoid")) each([](floats a, floats) { return sigmoid(a); });
    if (is("rsqrt")) each([](floats a, floats) { return rsqrt(a); });
    if (is("abs")) each([](floats a, floats) { return abs(a); });
    if (is("sign")) each([](floats a, floats) { return sign(a); });
    if (is("floor")) each([](floats a, floats) { return floor(a); });
    if (is("ceil")) each([](floats a, floats) { return ceil(a); });
    if (is("round")) each([](floats a, floats) { return round(a); });
    if (is("expm1")) each([](floats a, floats) { return expm1(a); });
    if (is("log1p")) each([](floats a, floats) { return log1p(a); });
    if (is("atan2")) each([](floats a, floats b) { return atan2(a, b); });
    if (is("erf")) each([](floats a, floats) { return erf(a); });
    if (is("sin")) each([](floats a, floats) { return sin(a); });
    if (is("cos")) each([](floats a, floats) { return cos(a); });
    // The third operand is a small part of the second.
    if (is("sin_scaled")) each([](floats a, floats b) { return sin_scaled(a, b, b * 0x1p-14F); });
    if (is("cos_scaled")) each([](floats a, floats b) { return cos_scaled(a, b, b * 0x1p-14F); });
    if (is("pow")) each([](floats a, floats b) { return pow(a, b); });
    if (is("exp_significand")) each([](floats a, floats) { return exp_significand(a); });
    if (is("exp_exponent")) each([](floats a, floats) { return exp_exponent(a); });
    const auto parts = [](floats a, floats b, auto function) {
        return function(exp_significand(a) * exp_significand(b), exp_exponent(a) + exp_exponent(b));
    };
    const auto tanh_of = [](floats m, floats n) { return tanh_of_exp(m, n); };
    const auto sigmoid_of = [](floats m, floats n) { return sigmoid_of_exp(m, n); };
    if (is("tanh of a sum"))
        each([&](floats a, floats b) { return parts(a * 2.F, b * 2.F, tanh_of); });
    if (is("sigmoid of a sum")) each([&](floats a, floats b) { return parts(-a, -b, sigmoid_of); });
}
