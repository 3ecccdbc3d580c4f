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

TEST_CASE("what is no contraction is refused") {
    CHECK_THROWS_AS(contraction_schedule(small_softmax(), {}), InternalError);
}
