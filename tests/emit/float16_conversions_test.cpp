// float16 in memory on every instruction set: all its values are widened as they are, and floats
// round to the nearest, in whole vectors, at the ends of rows, and one by one.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "codegen/kernel/builder.h"
#include "codegen/ptx/instructions/half.h"
#include "runtime/memory/halves.h"
#include "tests/emit/compiled_model.h"

using namespace fovea;
using namespace fovea::test;
using namespace kernel;

namespace {

/// y[i, j] = x[i, j], of other types.
Kernel copied(const char* name, DType from, DType to) {
    Builder it(name);
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n");
    const int x = it.input("x", {"m", "n"}, from), y = it.output("y", {"m", "n"}, to);
    it.each(i, [&] { it.par(j, [&] { it.store(it.at(y, {i, j}), it.load(it.at(x, {i, j}))); }); });
    return it.finish();
}

/// y[i] = x[i], number by number, and x[i] rounded to float16 in each z[i, j], as float32.
Kernel one_by_one() {
    Builder it("one_by_one");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", 3);
    const int x = it.input("x", {"m"}), y = it.output("y", {"m"}, f16);
    const int z = it.output("z", {"m", 3});
    it.each(i, [&] {
        const Id value = it.load(it.at(x, {i}));
        it.store(it.at(y, {i}), value);
        it.par(j, [&] { it.store(it.at(z, {i, j}), it.cast(value, f16)); });
    });
    return it.finish();
}

/// Floats whose roundings are all kinds there are: each value of float16, the middle between it and
/// the next one, and what lies beside that.
std::vector<float> floats_to_round() {
    std::vector<float> all;
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const float low = ptx::from_f16(std::uint16_t(bits));
        const float high = bits == 0x7bff ? 65536 : ptx::from_f16(std::uint16_t(bits + 1));
        const float middle = low / 2 + high / 2;
        for (float value : {low, middle, std::nextafter(middle, 0.F), std::nextafter(middle, high)})
            for (float sign : {1.F, -1.F}) all.push_back(sign * value);
    }
    for (float value : {65519.F, 65520.F, 1e5F, 1e30F, HUGE_VALF, 0x1p-26F, 1e-30F, 1e-40F})
        for (float sign : {1.F, -1.F}) all.push_back(sign * value);
    return all;
}

bool is_same(std::uint16_t a, std::uint16_t b) {
    return a == b || (std::isnan(ptx::from_f16(a)) && std::isnan(ptx::from_f16(b)));
}

}  // namespace

TEST_CASE("float16 is widened and rounded on every instruction set") {
    const std::vector<Kernel> kernels = {copied("widened", f16, f32), copied("rounded", f32, f16),
                                         one_by_one()};
    std::vector<float> floats = floats_to_round();
    floats.push_back(std::nanf(""));
    while (floats.size() % 37 != 0) floats.push_back(0);
    for (const std::string& isa : isas_here()) {
        CAPTURE(isa);
        const runtime::Model& model =
            compile_and_load(model_of_kernels("conversions", kernels), isa, optimization_for(isa));
        const DimValues halves{{"m", 64}, {"n", 1024}};
        Arrays widened(kernels[0], halves, 7, 11);
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
            widened.halves[0][bits] = std::uint16_t(bits);
        run_program(model, 0, halves, widened, 2);
        int wrong = 0;
        for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
            const float own = widened.floats[1][bits], right = ptx::from_f16(std::uint16_t(bits));
            wrong += !(std::bit_cast<std::uint32_t>(own) == std::bit_cast<std::uint32_t>(right) ||
                       (std::isnan(own) && std::isnan(right)));
        }
        CHECK(wrong == 0);

        // Rows of 37 have a part of a vector at their end.
        const auto count = std::int64_t(floats.size());
        const DimValues rows{{"m", count / 37}, {"n", 37}};
        Arrays rounded(kernels[1], rows, 7, 11);
        std::copy(floats.begin(), floats.end(), rounded.floats[0].begin());
        run_program(model, 1, rows, rounded, 2);
        const DimValues singles{{"m", count}, {"n", 1}};
        Arrays single(kernels[2], singles, 7, 11);
        std::copy(floats.begin(), floats.end(), single.floats[0].begin());
        run_program(model, 2, singles, single, 2);
        int wrong_in_rows = 0, wrong_alone = 0, wrong_as_floats = 0;
        for (std::size_t i = 0; i < floats.size(); ++i) {
            const std::uint16_t right = ptx::to_f16(double(floats[i]));
            wrong_in_rows += !is_same(rounded.halves[1][i], right);
            wrong_alone += !is_same(single.halves[1][i], right);
            for (std::size_t j = 0; j < 3; ++j) {
                const float own = single.floats[2][3 * i + j], value = ptx::from_f16(right);
                wrong_as_floats += !(own == value || (std::isnan(own) && std::isnan(value)));
            }
        }
        CHECK(wrong_in_rows == 0);
        CHECK(wrong_alone == 0);
        CHECK(wrong_as_floats == 0);
    }
}

TEST_CASE("halves of files and callers round and widen as kernels do") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = std::uint16_t(bits);
        const float own = runtime::float_of_half(runtime::DType::f16, half);
        const float right = ptx::from_f16(half);
        wrong += !(own == right || (std::isnan(own) && std::isnan(right)));
        wrong += !is_same(runtime::half_of_float(runtime::DType::f16, right), half);
    }
    CHECK(wrong == 0);
    for (float value : floats_to_round()) {
        wrong += runtime::half_of_float(runtime::DType::f16, value) != ptx::to_f16(double(value));
        wrong += runtime::half_of_float(runtime::DType::bf16, value) != ptx::to_bf16(double(value));
    }
    CHECK(wrong == 0);
    CHECK(std::isnan(runtime::float_of_half(
        runtime::DType::bf16, runtime::half_of_float(runtime::DType::bf16, std::nanf("")))));
}
