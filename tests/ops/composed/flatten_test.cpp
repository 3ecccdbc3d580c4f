// Merged and split axes: values stay where they are.
#include "codegen/ops/composed/flatten.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("flatten merges the axes that are asked for") {
    const Array six{{6}, {0, 1, 2, 3, 4, 5}};
    check_counting({1, 2, 3}, six, [](Tensor x) { return flatten(x); });
    check_counting({1, 2, 3}, {{1, 6}, six.values}, [](Tensor x) { return flatten(x, 1); });
    check_counting({1, 2, 3}, {{2, 3}, six.values}, [](Tensor x) { return flatten(x, 0, 1); });
    check_counting({1, 2, 3}, {{1, 2, 3}, six.values}, [](Tensor x) { return flatten(x, -2, 1); });
    check_counting({}, {{1}, {0}}, [](Tensor x) { return flatten(x); });
}

TEST_CASE("unflatten splits an axis") {
    const Array four{{2, 2, 1}, {0, 1, 2, 3}};
    check_counting({4, 1}, four, [](Tensor x) { return unflatten(x, 0, {2, 2}); });
    check_counting({1, 4}, {{1, 1, 4}, four.values},
                   [](Tensor x) { return unflatten(x, -1, {1, 4}); });
}
