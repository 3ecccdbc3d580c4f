// Attention in PTX, forward and backward, with any score: on the interpreter against the float64
// evaluator, over odd lengths, bit by bit over schedules and over the padding.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/emit/padded_attention.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

constexpr std::pair<int, int> kTileLengths[] = {{0, 5},   {5, 0},    {1, 1},  {10, 10},
                                                {33, 65}, {10, 140}, {70, 10}};

std::vector<Kernel> all_variants() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : attention_variants())
        for (const AttentionVariant& one : {variant, in_bfloat16(variant)})
            for (const Kernel& kernel : attention_kernels(one)) kernels.push_back(kernel);
    return kernels;
}

/// Scores of up to 40 and gradients of up to 1000 are sums of products that are rounded to 8 bits.
double tolerance_of(const Kernel& kernel) {
    if (kernel.name.find("bfloat16") != std::string::npos)
        return kernel.name.find("gradient") == std::string::npos ? 1e-2 : 5e-2;
    // The gradient of a slope adds many products of either sign.
    return kernel.name == "alibi_attention_gradient_of_captures" ? 1e-4 : 1e-5;
}

}  // namespace

TEST_CASE("attention in PTX agrees with the evaluator") {
    const Emitted emitted = emit_and_parse(all_variants());
    for (std::size_t number = 0; number < emitted.kernels.size(); ++number)
        for (const std::size_t i : turns_of(std::size(kTileLengths), 2, number)) {
            const Kernel& kernel = emitted.kernels[number];
            const auto [queries, keys] = kTileLengths[i];
            const DimValues dims = attention_sizes(keys == 10 ? 2 : 1, queries, keys);
            const int limit = keys + 1;
            check_kernel(
                emitted, number, dims, [&] { return Arrays(kernel, dims, limit, 11); }, number + i,
                tolerance_of(kernel));
        }
}

TEST_CASE("attention's bits in PTX do not depend on how far its sequences are padded") {
    std::vector<Kernel> kernels;
    for (const char* name : {"padded", "causal_padded"}) {
        kernels.push_back(attention_forward(attention_variant(name)));
        kernels.push_back(attention_forward(in_bfloat16(attention_variant(name))));
    }
    const Emitted emitted = emit_and_parse(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        CAPTURE(kernels[i].name);
        check_padding(emitted.kernels[i], [&](const DimValues& dims, Arrays& arrays) {
            run_ptx(emitted, i, dims, arrays);
        });
    }
}

TEST_CASE("products of bfloat16 are those of matrix instructions") {
    for (const AttentionVariant& variant : attention_variants()) {
        CAPTURE(variant.name);
        const Emitted emitted = emit_and_parse({attention_forward(in_bfloat16(variant))});
        const bool multiplies = emitted.ptx.text.find("mma.sync") != std::string::npos;
        const bool fits = variant.width % 16 == 0 && variant.value_width % 16 == 0 &&
                          variant.value_width <= 128 && variant.score != Score::additive;
        CHECK(multiplies == fits);
    }
}

TEST_CASE("ptxas has nothing against attention") {
    check_ptxas(all_variants(), {"sm_80", "sm_90a"});
}
