#include "codegen/kernel/schedule.h"

#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/kernel/builder.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

TEST_CASE("the lanes go along the axis that is contiguous in the output") {
    const Kernel kernel = small_dense();
    CHECK(print(kernel, contraction_schedule(kernel, {})) ==
          "rows row, lanes out, tile 8 x 2 vectors");
}

TEST_CASE("a transposed output swaps the operands") {
    Builder b("transposed");
    const AxisId i = b.axis("i", 48), j = b.axis("j", "n"), k = b.axis("k", 8);
    const int x = b.input("x", {48, 8}), w = b.input("w", {"n", 8}), y = b.output("y", {"n", 48});
    b.par({i, j}, [&] {
        b.store(b.at(y, {j, i}), b.contract(b.load(b.at(x, {i, k})), b.load(b.at(w, {j, k})), {k}));
    });
    const Kernel kernel = b.finish();
    const ContractionSchedule schedule = contraction_schedule(kernel, {});
    CHECK(print(kernel, schedule) == "rows j, lanes i, tile 8 x 3 vectors");
    CHECK(as<Load>(kernel, schedule.a)->access.buffer == w);
}

TEST_CASE("an axis of rows besides those of a tile is a point") {
    Builder b("batched");
    const AxisId n = b.axis("n", "batch"), i = b.axis("i", 8), j = b.axis("j", 48);
    const AxisId k = b.axis("k", 8);
    const int x = b.input("x", {"batch", 8, 8}), w = b.input("w", {48, 8});
    const int y = b.output("y", {"batch", 8, 48});
    b.par({n, i, j}, [&] {
        const Id left = b.load(b.at(x, {n, i, k})), right = b.load(b.at(w, {j, k}));
        b.store(b.at(y, {n, i, j}), b.contract(left, right, {k}));
    });
    const Kernel kernel = b.finish();
    CHECK(print(kernel, contraction_schedule(kernel, {})) ==
          "rows i, lanes j, point n, tile 8 x 3 vectors");
}

TEST_CASE("what is no contraction is refused") {
    CHECK_THROWS_AS(contraction_schedule(small_softmax(), {}), InternalError);
}
