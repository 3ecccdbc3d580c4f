#include "codegen/kernel/same_kernel.h"

#include <doctest/doctest.h>

#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

TEST_CASE("names do not matter, structure does") {
    const Kernel kernel = small_dense();
    Kernel other = kernel;
    other.name = "another", other.formula = "y = …", other.sources = {"x.cpp:1"};
    other.buffers[0].name = "input", other.axes[0].name = "b", other.nodes[0].name = "weight";
    CHECK(same_kernel(kernel, other));
    CHECK(structural_hash(kernel) == structural_hash(other));

    other.axes[2].extent = 65;
    CHECK(!same_kernel(kernel, other));
    CHECK(!same_kernel(kernel, small_softmax()));
    CHECK(structural_hash(kernel) != structural_hash(small_softmax()));

    Kernel constant = small_softmax();
    for (Node& node : constant.nodes)
        if (auto random = std::get_if<Random>(&node.operation)) random->probability = 0.2;
    CHECK(!same_kernel(constant, small_softmax()));
}
