// Elementary functions in PTX against double precision: errors in units in the last place over wide
// ranges, and special values.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "codegen/kernel/builder.h"
#include "tests/emit/ulps.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using E = Elementwise;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Range {
    E function;
    double low, high, most;  // the largest error, in units in the last place
};

const Range kRanges[] = {
    {E::exp, -110, 89, 2},        {E::exp, -1, 1, 2},         {E::exp2, -126, 129, 2},
    {E::exp2, -1, 1, 2},          {E::log, 1e-44, 1e-37, 2},  {E::log, 0.5, 2, 2},
    {E::log, 1, 1e6, 2},          {E::log2, 0.5, 2, 3},       {E::log2, 1, 1e6, 2},
    {E::tanh, -12, 12, 3},        {E::tanh, -1e-3, 1e-3, 2},  {E::sigmoid, -80, 40, 4},
    {E::sqrt, 0, 100, 1},         {E::rsqrt, 1e-6, 100, 2},   {E::erf, -6, 6, 2},
    {E::erf, 0.9, 0.95, 2},       {E::erf, -1e-3, 1e-3, 2},   {E::sin, -10, 10, 1},
    {E::sin, -1e5, 1e5, 1},       {E::sin, -1.3e8, 1.3e8, 1}, {E::sin, -1e-38, 1e-38, 1},
    {E::cos, -10, 10, 1},         {E::cos, -1e5, 1e5, 1},     {E::cos, -1.3e8, 1.3e8, 1},
    {E::expm1, -1, 1, 2},         {E::expm1, -40, 90, 2.5},   {E::expm1, -1e-3, 1e-3, 2},
    {E::log1p, -0.999, 2, 3},     {E::log1p, -1e-3, 1e-3, 2}, {E::log1p, 1, 1e6, 3},
    {E::floor, -1e3, 1e3, 0},     {E::ceil, -1e3, 1e3, 0},    {E::round, -1e3, 1e3, 0},
    {E::abs, -1e3, 1e3, 0},       {E::sign, -1e3, 1e3, 0},    {E::exp_significand, -50, 50, 3},
    {E::exp_exponent, -50, 50, 0}};

constexpr float kSpecial[] = {0.F,        -0.F, 1.F,   -1.F,      2.F,        -2.F,  3.F,
                              -3.F,       0.5F, -0.5F, 1.5F,      -1.5F,      1e30F, -1e30F,
                              0.9999999F, 4e9F, -4e9F, kInfinite, -kInfinite, NAN};

/// z = function(x, y) of vectors.
kernel::Kernel vector_kernel(E function) {
    kernel::Builder it("apply_" + std::string(row_of(function).name));
    const kernel::AxisId i = it.axis("i", "m");
    const int x = it.input("x", {"m"}), y = it.input("y", {"m"}), z = it.output("z", {"m"});
    it.each(i, [&] {
        std::vector<kernel::Id> operands{it.load(it.at(x, {i}))};
        if (row_of(function).arity == 2) operands.push_back(it.load(it.at(y, {i})));
        it.store(it.at(z, {i}), it.map(function, operands));
    });
    return it.finish();
}

std::vector<float> apply(E function, const std::vector<float>& x, const std::vector<float>& y) {
    const Emitted emitted = emit_and_parse({vector_kernel(function)});
    const kernel::DimValues dims{{"m", std::int64_t(x.size())}};
    Arrays arrays(emitted.kernels[0], dims, 1, 1);
    std::copy(x.begin(), x.end(), arrays.floats[0].begin());
    std::copy(y.begin(), y.end(), arrays.floats[1].begin());
    run_ptx(emitted, 0, dims, arrays);
    return {arrays.floats[2].begin(), arrays.floats[2].begin() + std::ptrdiff_t(x.size())};
}

}  // namespace

TEST_CASE("elementary functions in PTX are within a few units in the last place") {
    for (const Range& range : kRanges) {
        CAPTURE(row_of(range.function).name);
        CAPTURE(range.low);
        std::vector<float> x;
        for (int i = 0; i <= 2000; ++i)
            x.push_back(float(range.low + (range.high - range.low) * i / 2000));
        const std::vector<float> own = apply(range.function, x, x);
        double worst = 0, where = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error = ulps(own[i], row_of(range.function).value(double(x[i]), 0, 0));
            if (error > worst) worst = error, where = double(x[i]);
        }
        CAPTURE(where);
        CHECK(worst <= range.most);
    }
}

TEST_CASE("infinities, zeros and NaN in PTX") {
    const std::vector<float> x(std::begin(kSpecial), std::end(kSpecial));
    for (E function :
         {E::exp, E::exp2, E::log, E::log2, E::sqrt, E::rsqrt, E::tanh, E::sigmoid, E::erf, E::neg,
          E::abs, E::sign, E::floor, E::ceil, E::round, E::expm1, E::log1p}) {
        CAPTURE(row_of(function).name);
        const std::vector<float> own = apply(function, x, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            CAPTURE(x[i]);
            CAPTURE(own[i]);
            CHECK(ulps(own[i], row_of(function).value(double(x[i]), 0, 0)) <= 3);
        }
    }
    for (E function : {E::pow, E::atan2})
        for (float first : kSpecial) {
            const std::vector<float> own = apply(function, std::vector<float>(x.size(), first), x);
            for (std::size_t i = 0; i < x.size(); ++i) {
                CAPTURE(row_of(function).name);
                CAPTURE(first);
                CAPTURE(x[i]);
                CAPTURE(own[i]);
                const double exact = row_of(function).value(double(first), double(x[i]), 0);
                CHECK(ulps(own[i], exact) <= 3);
            }
        }
}
