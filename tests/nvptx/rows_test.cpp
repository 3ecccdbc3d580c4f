// Row and column kernels: PTX on the interpreter against the float64 evaluator, over odd sizes.
#include <doctest/doctest.h>

#include <cstring>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/builder.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

std::vector<DimValues> row_sizes() {
    std::vector<DimValues> result;
    for (std::int64_t m : {0, 1, 7, 33})
        for (std::int64_t n : {0, 1, 16, 33, 100})
            result.push_back({{"m", m}, {"n", n}, {"k", n + 3}, {"b", 2}});
    return result;
}

}  // namespace

TEST_CASE("row kernels in PTX agree with the evaluator") {
    check_kernels(sample_row_kernels(), row_sizes(), 5e-6);
}

TEST_CASE("column kernels in PTX agree with the evaluator") {
    check_kernels(sample_column_kernels(), row_sizes(), 5e-6);
}

TEST_CASE("ptxas has nothing against row and column kernels") {
    std::vector<Kernel> kernels = sample_row_kernels();
    for (const Kernel& kernel : sample_column_kernels()) kernels.push_back(kernel);
    for (const std::string& architecture : emit::ptx_architectures()) {
        CAPTURE(architecture);
        const auto complaints =
            complaints_of_ptxas(emit::emit_ptx(kernels, architecture).text, architecture);
        if (complaints) CHECK(*complaints == "");
    }
}

TEST_CASE("a row's bits in PTX do not depend on how far it is padded") {
    const Emitted softmax = emit_and_parse({sample_row_kernels()[0]});
    std::vector<float> shortest;
    for (std::int64_t keys : {21, 32, 33, 100, 257}) {
        CAPTURE(keys);
        const DimValues dims{{"m", 1}, {"n", keys}, {"k", 1}, {"b", 1}};
        Arrays arrays(softmax.kernels[0], dims, 7, 9);
        arrays.integers[1][0] = 21;
        run_ptx(softmax, 0, dims, arrays);
        const std::vector<float> valid(arrays.floats[2].begin(), arrays.floats[2].begin() + 21);
        if (shortest.empty()) shortest = valid;
        CHECK(valid == shortest);
        for (std::int64_t key = 21; key < keys; ++key)
            CHECK(arrays.floats[2][std::size_t(key)] == 0);
    }
}

TEST_CASE("long rows of a static length lie on many blocks") {
    for (const std::int64_t length : {4096, 4097, 5000, 8192, 262144}) {
        kernel::Builder it("cut");
        const kernel::AxisId row = it.axis("row", Dim("m")), i = it.axis("i", length);
        const int x = it.input("x", {Dim("m"), length}), y = it.output("y", {Dim("m"), length});
        const auto place = [&](int buffer) { return it.at(buffer, {row, i}); };
        it.each(row, [&] { it.store(place(y), it.map(Elementwise::neg, {it.load(place(x))})); });
        const Emitted emitted = emit_and_parse({it.finish()});
        const std::int64_t rows = length > 10000 ? 1 : 3;
        Arrays arrays(emitted.kernels[0], {{"m", rows}}, 7, 9);
        run_ptx(emitted, 0, {{"m", rows}}, arrays);
        for (std::size_t at = 0; at < std::size_t(rows * length); ++at)
            REQUIRE(arrays.floats[1][at] == -arrays.floats[0][at]);
        const emit::PtxLaunch& launch = emitted.ptx.kernels[0].launches[0];
        std::int64_t blocks = 1;
        for (const emit::GridFactor& factor : launch.grid)
            blocks *= (factor.extent.is_static() ? factor.extent.value() : 1) / factor.tile;
        CHECK(blocks * launch.threads * 16 >= length);
    }
}

TEST_CASE("sums over different axes are refused") {
    kernel::Builder it("two_sums");
    const kernel::AxisId i = it.axis("i", 5), j = it.axis("j", 3);
    const int x = it.input("x", {5}), y = it.input("y", {3}), z = it.output("z", {2});
    it.store({.buffer = z}, it.sum(it.load(it.at(x, {i})), {i}));
    it.store({.buffer = z, .offset = 1}, it.sum(it.load(it.at(y, {j})), {j}));
    CHECK_THROWS_WITH_AS(
        emit::emit_ptx({it.finish()}, "sm_80"),
        "kernel two_sums has no form in PTX: two of its sums are over different inner axes",
        UserError);
}

TEST_CASE("an unknown architecture is named with those that there are") {
    CHECK_THROWS_WITH_AS(emit::emit_ptx({}, "sm_70"),
                         "PTX is not written for sm_70; use one of sm_80, sm_90, sm_90a",
                         UserError);
}
