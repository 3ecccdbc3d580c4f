// Under a causal mask later queries have more work, and earlier keys; windows and lengths that are
// loaded for each query tell nothing.
#include "codegen/kernel/analysis/work_along.h"

#include <doctest/doctest.h>

#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using kernel::Kernel;
using kernel::Work;

namespace {

kernel::AxisId par_axis(const Kernel& kernel) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto loop = std::get_if<kernel::Loop>(&node.operation))
            if (loop->kind == kernel::LoopKind::par) return loop->axis;
    return -1;
}

Work work_of(const Kernel& kernel) { return kernel::work_along(kernel, par_axis(kernel)); }

}  // namespace

TEST_CASE("work rises along queries and falls along keys where attention is causal") {
    using Lengths = AttentionVariant::Lengths;
    for (const bool causal : {false, true})
        for (const bool uniform : {false, true})
            for (const Lengths lengths : {Lengths::none, Lengths::sequences}) {
                AttentionVariant variant{.lengths = lengths, .uniform = uniform};
                if (causal) variant.window = kCausal;
                const std::vector<Kernel> kernels = attention_kernels(variant);
                CHECK(work_of(kernels[0]) == (causal ? Work::rises : Work::even));
                const bool falls = causal || lengths == Lengths::sequences;
                CHECK(work_of(kernels[1]) == (falls ? Work::falls : Work::even));
                CHECK(work_of(kernels[2]) == (causal ? Work::rises : Work::even));
            }
}

TEST_CASE("work along queries is even where bounds do not tell") {
    CHECK(work_of(attention_forward({.window = {4, 0}})) == Work::even);
    AttentionVariant by_query{.lengths = AttentionVariant::Lengths::queries};
    CHECK(work_of(attention_forward(by_query)) == Work::even);
    by_query.window = kCausal;
    CHECK(work_of(attention_forward(by_query)) == Work::even);
}
