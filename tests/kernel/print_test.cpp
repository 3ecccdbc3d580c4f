#include "codegen/kernel/print.h"

#include <doctest/doctest.h>

#include "codegen/kernel/rewrites/tile_rewrites.h"
#include "tests/golden.h"
#include "tests/kernel/small_kernels.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the printed form of kernels") {
    check_golden("kernels/softmax.txt", kernel::print(small_softmax()));
    check_golden("kernels/dense.txt", kernel::print(small_dense()));
    check_golden("kernels/embedding_gradient.txt", kernel::print(small_scatter()));
}

TEST_CASE("the printed form of attention") {
    const AttentionVariant variant = readable_attention();
    check_golden("kernels/attention_forward.txt", kernel::print(attention_forward(variant)));
    check_golden("kernels/attention_backward.txt", kernel::print(attention_backward(variant)));
    kernel::Kernel rewritten = attention_forward(variant);
    kernel::hoist_factors(rewritten);
    check_golden("kernels/attention_forward_scaled.txt", kernel::print(rewritten));
}

TEST_CASE("values have distinct names") {
    const std::vector<std::string> names = kernel::value_names(small_softmax());
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!names[i].empty()) CHECK(names[i] != names[j]);
}
