#include "codegen/kernel/evaluate.h"

#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/kernel/builder.h"
#include "codegen/kernel/print.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

TEST_CASE("a dense layer in float64") {
    const DimValues dims{{"batch", 1}, {"rows", 2}};
    std::vector<std::vector<double>> buffers{std::vector<double>(64, 0.5),
                                             std::vector<double>(2048, 0.25),
                                             std::vector<double>(64, 1), std::vector<double>(128)};
    buffers[2][3] = -6;
    evaluate(small_dense(), dims, buffers);
    CHECK(buffers[3][0] == 5);   // 32 * 0.5 * 0.25 + 1
    CHECK(buffers[3][67] == 0);  // relu(4 - 6)
}

TEST_CASE("rows are added to a table in order") {
    const DimValues dims{{"rows", 3}, {"vocab", 2}};
    std::vector<std::vector<double>> buffers{
        {1, 0, 1}, std::vector<double>(96, 2), std::vector<double>(64, 1)};
    evaluate(small_scatter(), dims, buffers);
    CHECK(buffers[2][0] == 3);
    CHECK(buffers[2][32] == 5);
    buffers[0][1] = 2;
    CHECK_THROWS_AS(evaluate(small_scatter(), dims, buffers), InternalError);
}

TEST_CASE("sizes from symbols") {
    CHECK(value_of(Dim("batch") * Dim("rows") * 4 + 3, {{"batch", 2}, {"rows", 5}}) == 43);
    CHECK_THROWS_AS(value_of(Dim("batch"), {}), InternalError);
}

TEST_CASE("an axis in panels of neighbours") {
    Builder b("panels");
    const AxisId j = b.axis("j", 5);
    const int x = b.input("x", {12}), y = b.output("y", {5});
    const Access panels{.buffer = x, .strides = {{j, Dim(6), 3}}};
    b.store(b.at(y, {j}), b.load(panels));
    const Kernel kernel = b.finish();
    std::vector<std::vector<double>> buffers{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                                             {0, 0, 0, 0, 0}};
    evaluate(kernel, {}, buffers);
    CHECK(buffers[1] == std::vector<double>{0, 1, 2, 6, 7});
    CHECK(print(kernel).find("x[j%3 + j/3*6]") != std::string::npos);
}
