// Attention in PTX, forward and backward, with any score: on the interpreter against the float64
// evaluator, over odd lengths, bit by bit over schedules and over the padding.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/run_ptx.h"

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

constexpr std::int64_t kWidth = 64, kHeads = 2;

/// The first `rows` rows of each head of a tensor [1, heads, length, 64].
std::vector<float> first_rows(const std::vector<float>& tensor, std::int64_t length,
                              std::int64_t rows) {
    std::vector<float> result;
    for (std::int64_t head = 0; head < kHeads; ++head) {
        const auto first = tensor.begin() + head * length * kWidth;
        result.insert(result.end(), first, first + rows * kWidth);
    }
    return result;
}

/// The first 10 rows of the output, when there are `queries` and, behind the 21 valid keys, others.
std::vector<float> padded_output(const Emitted& emitted, std::size_t number, std::int64_t queries,
                                 std::int64_t keys) {
    const DimValues longest = attention_sizes(1, 200, 200),
                    dims = attention_sizes(1, queries, keys);
    const Kernel& kernel = emitted.kernels[number];
    const Arrays all(kernel, longest, 7, 5);
    Arrays some(kernel, dims, 7, 5);
    for (const char* operand : {"query", "key", "value"}) {
        const std::size_t i = loaded_buffer(kernel, operand);
        const bool is_query = operand == std::string_view("query");
        const std::vector<float> rows = first_rows(all.floats[i], 200, is_query ? queries : keys);
        std::copy(rows.begin(), rows.end(), some.floats[i].begin());
    }
    some.integers[loaded_buffer(kernel, "length")][0] = 21;
    run_ptx(emitted, number, dims, some);
    return first_rows(some.floats[written_buffer(kernel)], queries, 10);
}

}  // namespace

TEST_CASE("attention in PTX agrees with the evaluator") {
    const Emitted emitted = emit_and_parse(all_variants());
    for (std::size_t number = 0; number < emitted.kernels.size(); ++number)
        for (std::size_t i = 0; i < std::size(kTileLengths); ++i) {
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
        const std::vector<float> shortest = padded_output(emitted, i, 10, 21);
        CHECK(padded_output(emitted, i, 70, 21) == shortest);
        CHECK(padded_output(emitted, i, 10, 150) == shortest);
        CHECK(padded_output(emitted, i, 130, 200) == shortest);
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
