#include "codegen/kernel/analysis/same_kernel.h"

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
    for (kernel::Node& node : constant.nodes)
        if (auto random = std::get_if<Random>(&node.operation)) random->probability = 0.2;
    CHECK(!same_kernel(constant, small_softmax()));
}

TEST_CASE("kernels that draw at other sites are the same, if they draw at as many") {
    const Kernel kernel = small_softmax();
    const auto drawn_at = [&](int site) {
        Kernel other = kernel;
        for (kernel::Node& node : other.nodes)
            if (auto random = std::get_if<Random>(&node.operation)) random->site = site;
        return other;
    };
    CHECK(sites_of(kernel) == std::vector{4});
    CHECK(sites_of(drawn_at(7)) == std::vector{7});
    CHECK(same_kernel(kernel, drawn_at(7)));
    CHECK(structural_hash(kernel) == structural_hash(drawn_at(7)));

    const auto drawn_twice = [&](int site) {
        Kernel other = kernel;
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
            if (as<Random>(kernel, id)) {
                other.nodes.push_back(kernel.nodes[std::size_t(id)]);
                as<Random>(other, Id(other.nodes.size()) - 1)->site = site;
            }
        return other;
    };
    CHECK(sites_of(drawn_twice(9)) == std::vector{4, 9});
    CHECK(same_kernel(drawn_twice(8), drawn_twice(9)));
    CHECK(!same_kernel(drawn_twice(4), drawn_twice(9)));
}
