// Rewrites of loops over tiles leave the results of attention alone, in float64.
#include "codegen/kernel/rewrites/tile_rewrites.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/kernel/print.h"
#include "codegen/kernel/rewrites/one_tile.h"
#include "codegen/kernel/verify_kernel.h"
#include "tests/emit/arrays.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

using Buffers = std::vector<std::vector<double>>;

constexpr int kKeys = 40;
const DimValues kSizes = attention_sizes(2, 37, kKeys);

double dropout(int, double probability, std::int64_t row, std::int64_t column) {
    return (row * 31 + column * 17) % 5 == 0 ? 0 : 1 / (1 - probability);
}

/// What a kernel is given: drawn values.
Buffers drawn(const Kernel& kernel) { return Arrays(kernel, kSizes, kKeys + 1, 3).exact; }

/// What a kernel makes of them with tiles of this length.
Buffers results(const Kernel& kernel, Buffers buffers, std::int64_t tile) {
    kernel::evaluate(kernel, kSizes, buffers, dropout, tile);
    return buffers;
}

/// Relative to the larger of 1 and the largest value.
double largest_difference(const Buffers& a, const Buffers& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double difference = 0, scale = 1;
        for (std::size_t at = 0; at < a[i].size(); ++at) {
            if (a[i][at] == b[i][at]) continue;
            difference = std::max(difference, std::fabs(a[i][at] - b[i][at]));
            scale = std::max(scale, std::fabs(a[i][at]));
        }
        worst = std::max(worst, difference / scale);
    }
    return worst;
}

/// Of all variants, with all gradients in one kernel and in one for each side.
std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : attention_variants()) {
        for (const Kernel& kernel : attention_kernels(variant)) kernels.push_back(kernel);
        kernels.push_back(attention_backward(variant));
    }
    return kernels;
}

/// How many operands of contractions are products after `hoist_factors`, where contractions have
/// such factors and the number that scales the scores is this one.
int count_scaled_operands(kernel::Factors factors, double scale) {
    Kernel kernel = attention_forward(attention_variants().front());
    for (kernel::Node& node : kernel.nodes) {
        if (auto* contract = std::get_if<kernel::Contract>(&node.operation))
            contract->factors = factors;
        const auto* product = std::get_if<kernel::Map>(&node.operation);
        if (!product || product->function != Elementwise::mul) continue;
        const auto [x, y] = std::pair(product->operands[0], product->operands[1]);
        if (kernel::as<kernel::Contract>(kernel, x) && kernel::as<kernel::Constant>(kernel, y))
            kernel::as<kernel::Constant>(kernel, y)->value = scale;
    }
    kernel::hoist_factors(kernel);
    int count = 0;
    for (const kernel::Node& node : kernel.nodes)
        if (const auto* contract = std::get_if<kernel::Contract>(&node.operation))
            for (kernel::Id operand : {contract->a, contract->b})
                if (const auto* map = kernel::as<kernel::Map>(kernel, operand))
                    count += map->function == Elementwise::mul;
    return count;
}

}  // namespace

TEST_CASE("a scale moves into an operand that is rounded to a half only where that is exact") {
    using kernel::Factors;
    CHECK(count_scaled_operands(Factors::f32, 0.36) == 1);
    for (const Factors halves : {Factors::bf16, Factors::f16}) {
        CHECK(count_scaled_operands(halves, 0.36) == 0);
        CHECK(count_scaled_operands(halves, 0.25) == 1);
    }
}

TEST_CASE("rewrites for tiles leave the results alone") {
    for (const Kernel& kernel : all_kernels()) {
        CAPTURE(kernel.name);
        const Kernel rewritten = kernel::rewrite_for_tiles(kernel);
        CHECK_NOTHROW(kernel::verify_kernel(rewritten));
        // A mask may go where tiles end at the bound, which those of the evaluator do at 1.
        const Buffers given = drawn(kernel);
        CHECK(largest_difference(results(kernel, given, 1), results(rewritten, given, 1)) < 1e-11);
    }
}

TEST_CASE("attention without its loops over tiles has the same results") {
    for (const Kernel& kernel : all_kernels()) {
        CAPTURE(kernel.name);
        Kernel one_tile = kernel;
        REQUIRE(kernel::take_one_tile(one_tile));
        for (const kernel::Node& node : one_tile.nodes)
            if (auto loop = std::get_if<kernel::Loop>(&node.operation))
                CHECK((loop->kind != kernel::LoopKind::tiles || loop->body.empty()));
        const Buffers given = drawn(kernel);
        CHECK(largest_difference(results(kernel, given, 5), results(one_tile, given, kKeys)) <
              1e-11);
    }
}

TEST_CASE("loops along one axis that end differently stay") {
    AttentionVariant variant = attention_variant("uniform_allowed");
    Kernel kernel = attention_forward(variant);
    CHECK(kernel::take_one_tile(kernel));
    // The first loop finds the rows that see no key, and the second one goes over all keys there.
    variant.lengths = AttentionVariant::Lengths::sequences;
    kernel = attention_forward(variant);
    const std::string before = kernel::print(kernel);
    CHECK(!kernel::take_one_tile(kernel));
    CHECK(kernel::print(kernel) == before);
}
