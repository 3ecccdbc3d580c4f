// Elementary functions on every instruction set of this machine against double precision: errors in
// units in the last place over wide ranges, and special values.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/emit/compiled_model.h"
#include "tests/emit/ulps.h"
#include "tools/fovea/compiler.h"
#include "tools/fovea/process.h"

using namespace fovea;
using fovea::test::ulps;

namespace {

using Apply = void(const char*, const float*, const float*, float*, long);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Apply* functions_of(const std::string& isa) {
    static std::map<std::string, Apply*> compiled;
    if (compiled[isa]) return compiled[isa];
    tool::TemporaryFolder folder;
    const std::string library = folder.path() / "functions.so";
    std::vector<std::string> command = tool::find_compiler();
    for (const std::string& flag : tool::generated_code_flags(isa)) command.push_back(flag);
    for (const char* part : {"-fPIC", "-shared", "-I" FOVEA_SOURCE_DIR, "-o"})
        command.emplace_back(part);
    command.push_back(library);
    command.emplace_back(FOVEA_SOURCE_DIR "/tests/emit/elementary_functions.cpp");
    tool::compile_generated(command);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(handle != nullptr, dlerror());
    compiled[isa] = reinterpret_cast<Apply*>(dlsym(handle, "fovea_apply"));
    const bool found = compiled[isa] != nullptr;
    REQUIRE(found);
    return compiled[isa];
}

struct Range {
    const char* name;
    double (*exact)(double);
    double low, high, most;  // the largest error, in units in the last place
};

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exact_rsqrt(double x) { return 1 / std::sqrt(x); }

const Range kRanges[] = {
    {"exp", std::exp, -110, 89, 2},       {"exp", std::exp, -1, 1, 2},
    {"exp2", std::exp2, -152, 129, 2.5},  {"exp2", std::exp2, -1, 1, 2.5},
    {"log", std::log, 1e-44, 1e-37, 2},   {"log", std::log, 0.5, 2, 2},
    {"log", std::log, 1, 1e6, 2},         {"log2", std::log2, 0.5, 2, 3},
    {"log2", std::log2, 1, 1e6, 2},       {"tanh", std::tanh, -12, 12, 4},
    {"tanh", std::tanh, -1e-3, 1e-3, 4},  {"sigmoid", exact_sigmoid, -80, 40, 4},
    {"rsqrt", exact_rsqrt, 1e-6, 100, 2}, {"erf", std::erf, -6, 6, 2},
    {"erf", std::erf, 0.9, 0.95, 2},      {"erf", std::erf, -1e-3, 1e-3, 2},
    {"erf", std::erf, 1e-45, 1e-38, 2},   {"sin", std::sin, -10, 10, 1},
    {"sin", std::sin, -1e5, 1e5, 1},      {"sin", std::sin, -1.3e8, 1.3e8, 1},
    {"sin", std::sin, -1e15, 1e15, 1},    {"sin", std::sin, -1e-38, 1e-38, 1},
    {"cos", std::cos, -10, 10, 1},        {"cos", std::cos, -1e5, 1e5, 1},
    {"cos", std::cos, -1.3e8, 1.3e8, 1},  {"cos", std::cos, -1e15, 1e15, 1}};

constexpr float kSpecial[] = {0.F,   -0.F,   1.F,        -1.F,      2.F,        -2.F,
                              3.F,   -3.F,   0.5F,       -0.5F,     1.5F,       -1.5F,
                              1e30F, -1e30F, 1e-40F,     -1e-40F,   16777217.F, 33554432.F,
                              4e9F,  -4e9F,  0.9999999F, kInfinity, -kInfinity, NAN};

void check_special(const char* name, float own, double exact, float x, float y) {
    CAPTURE(name);
    CAPTURE(x);
    CAPTURE(y);
    CAPTURE(own);
    CHECK(ulps(own, exact) <= 2);
    if (!std::isnan(exact)) CHECK(std::signbit(own) == std::signbit(exact));
}

}  // namespace

TEST_CASE("elementary functions are within a few units in the last place") {
    constexpr int kPoints = 100003;
    std::vector<float> from(kPoints), to(kPoints);
    for (const std::string& isa : test::isas_here())
        for (const Range& range : kRanges) {
            for (int i = 0; i < kPoints; ++i)
                from[std::size_t(i)] = float(range.low + (range.high - range.low) * i / kPoints);
            functions_of(isa)(range.name, from.data(), from.data(), to.data(), kPoints);
            double worst = 0;
            for (std::size_t i = 0; i < from.size(); ++i)
                worst = std::max(worst, ulps(to[i], range.exact(double(from[i]))));
            CHECK_MESSAGE(worst <= range.most, isa, " ", std::string(range.name), " from ",
                          range.low, " to ", range.high, ": ", worst);
        }
}

TEST_CASE("powers") {
    constexpr int kPoints = 200000;
    std::vector<float> x(kPoints), y(kPoints), to(kPoints);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double first = double(i * 7919 % 100003) / 100003 - 0.5;
        const double second = double(i * 104729 % 99991) / 99991 - 0.5;
        x[i] = float(std::exp(first * (i % 2 ? 10 : 170)));
        y[i] = float(second * (i % 3 ? 20 : 2));
    }
    for (const std::string& isa : test::isas_here()) {
        functions_of(isa)("pow", x.data(), y.data(), to.data(), kPoints);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            worst = std::max(worst, ulps(to[i], std::pow(double(x[i]), double(y[i]))));
        CHECK_MESSAGE(worst <= 0.51, isa, ": ", worst);
    }
}

TEST_CASE("sine and cosine of positions times frequencies lose no digits") {
    constexpr int kPoints = 200000;
    std::vector<float> x(kPoints), y(kPoints), to(kPoints);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 7919 % 131101);
        y[i] = -float(i * 104729 % 99991) / 99991 * (i % 3 ? 20 : 1);
        if (i % 1000 == 0) x[i] = i % 2000 ? 1e30F : -1e12F;
        if (i % 1000 == 1) x[i] = -x[i];
    }
    for (const std::string& isa : test::isas_here())
        for (const bool is_sine : {true, false}) {
            functions_of(isa)(is_sine ? "sin_scaled" : "cos_scaled", x.data(), y.data(), to.data(),
                              kPoints);
            double worst = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double power = double(y[i]) + double(y[i] * 0x1p-14F);
                const double angle = double(x[i]) * std::exp2(power);
                if (std::abs(angle) > 0x1p18) CHECK(std::abs(to[i]) <= 1);
                else
                    worst = std::max(
                        worst, std::abs(to[i] - (is_sine ? std::sin(angle) : std::cos(angle))));
            }
            CHECK_MESSAGE(worst <= 1.5e-7, isa, ": ", worst);
        }
}

TEST_CASE("angles all around") {
    constexpr int kPoints = 200003;
    std::vector<float> x(kPoints), y(kPoints), to(kPoints);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double angle = 6.283185307179586 * double(i) / kPoints;
        const double radius = std::exp(double(i * 7919 % 1009) / 1009 * 100 - 50);
        x[i] = float(radius * std::cos(angle));
        y[i] = float(radius * std::sin(angle));
    }
    for (const std::string& isa : test::isas_here()) {
        functions_of(isa)("atan2", y.data(), x.data(), to.data(), kPoints);
        double worst = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            worst = std::max(worst, ulps(to[i], std::atan2(double(y[i]), double(x[i]))));
        CHECK_MESSAGE(worst <= 3, isa, ": ", worst);
    }
}

TEST_CASE("special values") {
    for (const std::string& isa : test::isas_here()) {
        CAPTURE(isa);
        const auto one = [&](const char* name, float x, float y) {
            float to = 0;
            functions_of(isa)(name, &x, &y, &to, 1);
            return to;
        };
        for (float x : kSpecial) {
            check_special("sin", one("sin", x, 0), std::sin(double(x)), x, 0);
            check_special("cos", one("cos", x, 0), std::cos(double(x)), x, 0);
            check_special("erf", one("erf", x, 0), std::erf(double(x)), x, 0);
            check_special("expm1", one("expm1", x, 0), std::expm1(double(x)), x, 0);
            check_special("log1p", one("log1p", x, 0), std::log1p(double(x)), x, 0);
            check_special("floor", one("floor", x, 0), std::floor(double(x)), x, 0);
            check_special("ceil", one("ceil", x, 0), std::ceil(double(x)), x, 0);
            check_special("round", one("round", x, 0), std::nearbyint(double(x)), x, 0);
            check_special("abs", one("abs", x, 0), std::fabs(double(x)), x, 0);
            CHECK(one("sign", x, 0) == float((x > 0) - (x < 0)));
            for (float y : kSpecial) {
                check_special("pow", one("pow", x, y), std::pow(double(x), double(y)), x, y);
                check_special("atan2", one("atan2", x, y), std::atan2(double(x), double(y)), x, y);
            }
        }
    }
}

TEST_CASE("the parts of an exponential") {
    constexpr std::size_t kPoints = 100003;
    std::vector<float> x(kPoints), m(kPoints), n(kPoints);
    for (const std::string& isa : test::isas_here())
        for (const double size : {1.0, 100.0, 1e4, 4e6}) {
            for (std::size_t i = 0; i < kPoints; ++i)
                x[i] = float(size * (2.0 * double(i) / kPoints - 1));
            functions_of(isa)("exp_significand", x.data(), x.data(), m.data(), long(kPoints));
            functions_of(isa)("exp_exponent", x.data(), x.data(), n.data(), long(kPoints));
            double worst = 0;
            for (std::size_t i = 0; i < kPoints; ++i) {
                const long double exact = std::exp(x[i] - n[i] * 0.693147180559945309417232L);
                worst = std::max(worst, ulps(m[i], double(exact)));
                CHECK(std::abs(std::log2(m[i])) <= 0.5000001);
                CHECK(n[i] == std::nearbyint(n[i]));
            }
            CHECK_MESSAGE(worst <= 1.5, isa, ", ", size, ": ", worst);
        }
}

TEST_CASE("tanh and sigmoid of sums, near 0, saturated, and of large opposite parts") {
    constexpr std::size_t kPoints = 100003;
    std::vector<float> a(kPoints), b(kPoints), to(kPoints);
    const auto worst_error = [&](const std::string& isa, const char* name, auto exact) {
        functions_of(isa)(name, a.data(), b.data(), to.data(), long(kPoints));
        double worst = 0;
        for (std::size_t i = 0; i < kPoints; ++i)
            worst = std::max(worst, std::abs(to[i] - exact(double(a[i]) + double(b[i]))));
        return worst;
    };
    for (const std::string& isa : test::isas_here())
        for (const double part : {0.0, 0.1, 1.0, 50.0, 100.0, 5000.0, 4e6})
            for (const double sum : {1e-3, 1.0, 20.0, 200.0, 1e6}) {
                for (std::size_t i = 0; i < kPoints; ++i) {
                    a[i] = float(part * (double(i * 7919 % kPoints) / double(kPoints) - 0.5));
                    b[i] = float(sum * (2.0 * double(i) / double(kPoints) - 1)) - a[i];
                }
                const double of_tanh =
                    worst_error(isa, "tanh of a sum", [](double x) { return std::tanh(x); });
                CHECK_MESSAGE(of_tanh < 0x1p-22, isa, ", ", part, ", ", sum, ": ", of_tanh);
                const double of_sigmoid = worst_error(isa, "sigmoid of a sum", exact_sigmoid);
                CHECK_MESSAGE(of_sigmoid < 0x1p-23, isa, ", ", part, ", ", sum, ": ", of_sigmoid);
            }
}

TEST_CASE("special parts of sums") {
    for (const std::string& isa : test::isas_here()) {
        CAPTURE(isa);
        const auto tanh_of = [&](float a, float b) {
            float to = 0;
            functions_of(isa)("tanh of a sum", &a, &b, &to, 1);
            return to;
        };
        CHECK(tanh_of(0, 0) == 0);
        CHECK(tanh_of(50, -49.9F) == doctest::Approx(std::tanh(50 - double(49.9F))).epsilon(1e-6));
        for (const float large : {20.F, 100.F, 1e30F, kInfinity})
            for (const float small : {-3.F, 0.F, 7.F}) {
                CHECK(tanh_of(large, small) == 1);
                CHECK(tanh_of(small, large) == 1);
                CHECK(tanh_of(-large, small) == -1);
                CHECK(tanh_of(large, large) == 1);
                CHECK(tanh_of(-large, -large) == -1);
            }
        CHECK(std::isnan(tanh_of(NAN, 0)));
        CHECK(std::isnan(tanh_of(0, NAN)));
        CHECK(std::isnan(tanh_of(NAN, 100)));
        CHECK(std::isnan(tanh_of(-kInfinity, NAN)));
    }
}
