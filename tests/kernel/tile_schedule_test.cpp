#include "codegen/kernel/tile_schedule.h"

#include <doctest/doctest.h>

using namespace fovea;
using namespace fovea::kernel;

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
