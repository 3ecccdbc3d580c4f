// Every barrier of row, column and scatter kernels is needed: without one, the interpreter finds a
// race, or the results change.
#include <doctest/doctest.h>

#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// More ids than the threads of a block look at in one turn.
const DimValues kSizes{{"b", 2}, {"m", 1400}, {"n", 100}, {"k", 1}};

}  // namespace

TEST_CASE("every barrier of row kernels in PTX is needed") {
    std::vector<Kernel> kernels = sample_row_kernels();
    for (const Kernel& kernel : sample_column_kernels()) kernels.push_back(kernel);
    int all = 0;
    for (const Kernel& kernel : kernels) {
        CAPTURE(kernel.name);
        const Waits waits = waits_of(emit_and_parse({kernel}), kSizes,
                                     [&] { return Arrays(kernel, kSizes, 7, 11); });
        CHECK(waits.unneeded.empty());
        all += waits.all;
    }
    CHECK(all >= 20);
}
