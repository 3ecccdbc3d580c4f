// Every barrier of the emitted kernels is needed: without one, the interpreter finds a race, or the
// results change.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/waits.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// All keys are seen.
Arrays arrays_for(const Kernel& kernel, const DimValues& dims) {
    Arrays arrays(kernel, dims, 2, 11);
    for (std::vector<std::int32_t>& lengths : arrays.integers)
        std::fill(lengths.begin(), lengths.end(), std::int32_t(dims.at("keys")));
    return arrays;
}

void check_waits(const Kernel& kernel, const DimValues& dims) {
    CAPTURE(kernel.name);
    const Waits waits =
        waits_of(emit_and_parse({kernel}), dims, [&] { return arrays_for(kernel, dims); });
    CHECK(waits.all > 0);
    CHECK(waits.unneeded.empty());
}

}  // namespace

TEST_CASE("every barrier of attention in PTX is needed") {
    if (!fovea::test::has_turn(0, 2)) return;
    const DimValues dims = attention_sizes(1, 70, 70);
    for (const AttentionVariant& variant : attention_variants()) {
        if (variant.name == "wide" || variant.name == "window" || variant.name == "padded")
            continue;
        for (const Kernel& kernel : attention_kernels(variant)) check_waits(kernel, dims);
    }
}

TEST_CASE("every barrier of attention in bfloat16 is needed") {
    if (!fovea::test::has_turn(1, 2)) return;
    const DimValues dims = attention_sizes(1, 70, 140);
    const DimValues square = attention_sizes(1, 200, 200);
    for (const AttentionVariant& variant : attention_variants())
        if (variant.name == "plain" || variant.name == "dropout" || variant.window.is_limited())
            for (const Kernel& kernel : attention_kernels(in_bfloat16(variant)))
                check_waits(kernel, variant.window.is_limited() ? square : dims);
}
