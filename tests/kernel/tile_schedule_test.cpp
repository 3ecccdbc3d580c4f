#include "codegen/kernel/tile_schedule.h"

#include <doctest/doctest.h>

#include "codegen/kernel/print.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

TEST_CASE("register tiles are no wider than their lanes, and leave registers for operands") {
    for (int lanes = 1; lanes <= 400; ++lanes) {
        CAPTURE(lanes);
        const RegisterTile tile = register_tile(lanes, {});
        const int vectors = (lanes + 15) / 16;
        CHECK(tile.vectors <= vectors);
        if (vectors <= 5) CHECK(tile.vectors == vectors);
        const int sums = tile.rows * tile.vectors, registers = 32;
        CHECK(sums >= 12);
        CHECK(sums + tile.vectors + 1 <= registers);  // a row of one operand, a value of the other
    }
    CHECK(register_tile("lanes", {}).rows * register_tile("lanes", {}).vectors == 24);
}

TEST_CASE("the schedule of tiles is data") {
    const auto schedule = [](const Kernel& kernel) {
        return print(kernel, tile_schedule(kernel, {}));
    };
    CHECK(schedule(attention_forward({})) == "tile q 64, tile k 64");
    CHECK(schedule(attention_backward({})) == "tile q 64, tile k 64");
    AttentionVariant narrow{.width = 8, .value_width = 16};
    CHECK(schedule(attention_forward(narrow)) == "tile q 64, tile k 64, or small ones of 16");
    narrow.queries = 100;
    CHECK(tile_schedule(attention_forward(narrow), {}).small_tile == 0);
}
