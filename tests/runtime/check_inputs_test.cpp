// Ids and lengths of inputs that are out of range.
#include "runtime/check_inputs.h"

#include <doctest/doctest.h>

#include "runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("an id out of range is named, and the one that PyTorch ignores explained") {
    const std::int32_t ids[] = {3, 0, -100, 10};
    check_ids("y", ids, {2}, 4, {});
    CHECK_THROWS_WITH_AS(check_ids("y", ids, {2, 2}, 4, {}),
                         "input y[1, 0] is the id -100; ids are from 0 to 3 (cross_entropy leaves "
                         "out the label that .ignored names)",
                         UserError);
    CHECK_THROWS_WITH_AS(check_ids("y", ids + 3, {1}, 10, {}),
                         "input y[0] is the id 10; ids are from 0 to 9", UserError);
}
