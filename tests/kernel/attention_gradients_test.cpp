// The two kernels that a gradient of attention splits into compute together what it computes.
#include "codegen/kernel/split_accumulation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/kernel/evaluate.h"
#include "tests/kernel/attention_programs.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const DimValues kSizes{{"b", 2}, {"m", 7}, {"n", 9}};

double dropout(int, double probability, std::int64_t row, std::int64_t column) {
    return (row * 31 + column * 17) % 5 == 0 ? 0 : 1 / (1 - probability);
}

std::vector<std::vector<double>> inputs_of(const Kernel& kernel) {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> values(-1, 1);
    std::vector<std::vector<double>> buffers;
    for (const kernel::Buffer& buffer : kernel.buffers) {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= kernel::value_of(dim, kSizes);
        buffers.emplace_back(std::size_t(size), -99);
        for (double& value : buffers.back())
            if (!buffer.written)
                value = buffer.dtype == DType::f32 ? values(generator)
                        : buffer.dtype == i32      ? double(generator() % 10)
                                                   : double(generator() % 2);
    }
    return buffers;
}

}  // namespace

TEST_CASE("a gradient of attention is two kernels whose tiles do without each other") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const Kernel whole = attention_backward(variant);
        const std::vector<Kernel> parts = kernel::split_accumulation(whole);
        // Gradients of slopes and weights are sums over all tiles.
        CHECK(parts.size() == (variant.alibi || variant.additive ? 3 : 2));
        for (std::int64_t tile : {3, 16}) {
            std::vector<std::vector<double>> expected = inputs_of(whole), own = expected;
            kernel::evaluate(whole, kSizes, expected, dropout, tile);
            for (const Kernel& part : parts) kernel::evaluate(part, kSizes, own, dropout, tile);
            for (std::size_t i = 0; i < own.size(); ++i)
                for (std::size_t at = 0; at < own[i].size(); ++at)
                    CHECK(std::fabs(own[i][at] - expected[i][at]) < 1e-9);
        }
    }
}

TEST_CASE("the sum over keys goes over those alone that its queries see") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const std::vector<Kernel> parts = kernel::split_accumulation(attention_backward(variant));
        int loops = 0;
        for (const kernel::Node& node : parts[1].nodes) {
            const auto* loop = std::get_if<kernel::Loop>(&node.operation);
            if (!loop || loop->kind != kernel::LoopKind::tiles) continue;
            ++loops;
            CHECK((loop->lower >= 0) == (variant.window > 0));
            CHECK((loop->upper >= 0) ==
                  (variant.causal || variant.lengths == AttentionVariant::Lengths::sequences));
        }
        CHECK(loops == 1);
    }
}

TEST_CASE("the forward pass of attention is one kernel") {
    for (const AttentionVariant& variant : attention_variants())
        CHECK(kernel::split_accumulation(attention_forward(variant)).empty());
}
