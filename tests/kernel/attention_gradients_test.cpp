// Kernels of gradients of attention for each side compute together what one kernel computes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "codegen/kernel/evaluate.h"
#include "tests/kernel/attention_programs.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

const DimValues kGradientSizes{{"b", 2}, {"m", 7}, {"n", 9}};

double gradient_dropout(int, double probability, std::int64_t row, std::int64_t column) {
    return (row * 31 + column * 17) % 5 == 0 ? 0 : 1 / (1 - probability);
}

std::vector<std::vector<double>> inputs_of(const Kernel& kernel) {
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> values(-1, 1);
    std::vector<std::vector<double>> buffers;
    for (const kernel::Buffer& buffer : kernel.buffers) {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= kernel::value_of(dim, kGradientSizes);
        buffers.emplace_back(std::size_t(size), -99);
        for (double& value : buffers.back())
            if (!buffer.written)
                value = buffer.dtype == DType::f32 ? values(generator)
                        : buffer.dtype == i32      ? double(generator() % 10)
                                                   : double(generator() % 2);
    }
    return buffers;
}

std::size_t number_of(const Kernel& kernel, const kernel::Buffer& buffer) {
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
        if (kernel.buffers[i].name == buffer.name) return i;
    FAIL("no such buffer");
    return 0;
}

}  // namespace

TEST_CASE("gradients of attention by side are those of one kernel") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const Kernel whole = attention_backward(variant);
        const std::vector<Kernel> sides = attention_gradients(variant);
        // Gradients of slopes and weights are sums over all tiles.
        CHECK(sides.size() == (variant.alibi || variant.additive ? 3 : 2));
        for (std::int64_t tile : {3, 16}) {
            std::vector<std::vector<double>> expected = inputs_of(whole);
            kernel::evaluate(whole, kGradientSizes, expected, gradient_dropout, tile);
            std::size_t compared = 0;
            for (const Kernel& side : sides) {
                std::vector<std::vector<double>> own = inputs_of(side);
                kernel::evaluate(side, kGradientSizes, own, gradient_dropout, tile);
                for (std::size_t i = 0; i < own.size(); ++i) {
                    if (!side.buffers[i].written) continue;
                    ++compared;
                    const std::vector<double>& right = expected[number_of(whole, side.buffers[i])];
                    for (std::size_t at = 0; at < right.size(); ++at)
                        CHECK(std::fabs(own[i][at] - right[at]) < 1e-9);
                }
            }
            CHECK(compared == std::size_t(std::count_if(
                                  whole.buffers.begin(), whole.buffers.end(),
                                  [](const kernel::Buffer& buffer) { return buffer.written; })));
        }
    }
}
