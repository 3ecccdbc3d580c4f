#include "codegen/kernel/print.h"

#include <doctest/doctest.h>

#include "tests/golden.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the printed form of kernels") {
    check_golden("kernels/softmax.txt", kernel::print(small_softmax()));
    check_golden("kernels/dense.txt", kernel::print(small_dense()));
    check_golden("kernels/embedding_gradient.txt", kernel::print(small_scatter()));
}

TEST_CASE("values have distinct names") {
    const std::vector<std::string> names = kernel::value_names(small_softmax());
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!names[i].empty()) CHECK(names[i] != names[j]);
}
