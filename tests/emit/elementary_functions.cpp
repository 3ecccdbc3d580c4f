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
    if (is("erf")) each([](floats a, floats) { return erf(a); });
    if (is("sin")) each([](floats a, floats) { return sin(a); });
    if (is("cos")) each([](floats a, floats) { return cos(a); });
    if (is("pow")) each([](floats a, floats b) { return pow(a, b); });
}
