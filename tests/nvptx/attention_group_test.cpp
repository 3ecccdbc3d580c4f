// Attention by groups of warps (sm_90a): on the interpreter against the float64 evaluator, over
// odd lengths, schedules and the padding; each wait, arrival and fence is needed.
#include <doctest/doctest.h>

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/target/target.h"
#include "tests/nvptx/group_variants.h"
#include "tests/nvptx/in_bfloat16.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// Of the weights, which products take in 8 bits.
constexpr double kTolerance = 1e-2;

constexpr std::uint16_t kNotANumber = 0x7fc0, kInfinity = 0x7f80;

Kernel forward(const AttentionVariant& variant) {
    return in_bfloat16_memory(attention_forward(variant));
}

/// The variants of both directions, and what no gradient by groups takes.
std::vector<AttentionVariant> variants() {
    std::vector<AttentionVariant> all = group_variants();
    all.push_back(group_variant("alibi", 64, 64));
    all.back().alibi = true, all.back().causal = true;
    all.push_back(group_variant("bias", 64, 64));
    all.back().bias = true;
    return all;
}

Arrays attention_arrays(const Kernel& kernel, const DimValues& dims) {
    return Arrays(kernel, dims, int(dims.at("n")) + 1, 11);
}

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : variants()) kernels.push_back(forward(variant));
    return kernels;
}

/// The same with a length of all sequences; values behind it are no numbers.
Arrays attention_arrays(const Kernel& kernel, const DimValues& dims, std::int32_t length) {
    Arrays arrays = attention_arrays(kernel, dims);
    for (std::size_t i = 0; i < arrays.exact[3].size(); ++i)
        arrays.exact[3][i] = arrays.integers[3][i] = length;
    const auto keys = std::size_t(dims.at("n"));
    for (std::size_t at = 0; at < arrays.exact[2].size(); ++at)
        if (at / 64 % keys >= std::size_t(length)) arrays.halves[2][at] = kNotANumber;
    return arrays;
}

}  // namespace

TEST_CASE("attention by groups of warps agrees with the evaluator") {
    constexpr std::pair<int, int> kLengths[] = {{0, 5},    {5, 0},     {1, 1},
                                                {33, 140}, {130, 256}, {300, 300}};
    const Emitted emitted = emit_and_parse(all_kernels(), "sm_90a");
    for (std::size_t number = 0; number < emitted.kernels.size(); ++number) {
        CHECK(emitted.ptx.kernels[number].launches[0].maps.size() == 3);
        for (std::size_t i = 0; i < std::size(kLengths); ++i) {
            const DimValues dims =
                group_sizes(i == 3 ? 2 : 1, kLengths[i].first, kLengths[i].second);
            check_kernel(
                emitted, number, dims,
                [&] { return attention_arrays(emitted.kernels[number], dims); }, number + i,
                kTolerance);
        }
    }
}

TEST_CASE("attention by groups of warps reads nothing of the padding") {
    AttentionVariant variant = group_variant("padded", 64, 64);
    variant.lengths = AttentionVariant::Lengths::sequences;
    const Emitted emitted = emit_and_parse({forward(variant)}, "sm_90a");
    const Kernel& kernel = emitted.kernels[0];
    const auto output = [&](std::int64_t keys, std::uint16_t padding) {
        const DimValues dims = group_sizes(1, 20, keys);
        Arrays arrays = attention_arrays(kernel, dims),
               longest = attention_arrays(kernel, group_sizes(1, 20, 300));
        arrays.halves[0] = longest.halves[0];
        for (std::size_t i = 1; i < 3; ++i)
            for (std::size_t head = 0; head < 2; ++head)
                for (std::size_t at = 0; at < std::size_t(keys) * 64; ++at)
                    arrays.halves[i][head * std::size_t(keys) * 64 + at] =
                        at < 150 * 64 ? longest.halves[i][head * 300 * 64 + at] : padding;
        arrays.integers[3][0] = 150;
        run_ptx(emitted, 0, dims, arrays);
        return std::pair(arrays.halves[4], arrays.floats[5]);
    };
    const auto right = output(150, 0);
    for (const std::uint16_t padding : {kNotANumber, kInfinity})
        for (const std::int64_t keys : {151, 300}) CHECK(output(keys, padding) == right);
}

TEST_CASE("each wait, arrival and fence of attention by groups of warps is needed") {
    for (const bool causal : {false, true}) {
        AttentionVariant variant = group_variant("attention", 64, 64);
        variant.causal = causal, variant.lengths = AttentionVariant::Lengths::sequences;
        const Kernel kernel = forward(variant);
        // Six tiles of keys: copies have fallen far behind at the last, which is not whole.
        const DimValues dims = group_sizes(1, causal ? 800 : 70, 800);
        const Waits waits = waits_of(emit_and_parse({kernel}, "sm_90a"), dims,
                                     [&] { return attention_arrays(kernel, dims, 750); });
        CHECK(waits.all > 30);
        for (const std::string& line : waits.unneeded) MESSAGE(line);
        CHECK(waits.unneeded.empty());
    }
}

TEST_CASE("why attention is not for groups of warps is said") {
    const auto reason = [](const AttentionVariant& variant) {
        return emit::nvptx::why_not_attention_group(forward(variant), target::gpu_of("sm_90a"))
            .value_or("");
    };
    CHECK(reason(group_variant("attention", 64, 128)) == "");
    CHECK(reason(group_variant("attention", 32, 64)) ==
          "it has rows of 32 elements, not of 64 or 128");
    const Kernel in_float = in_bfloat16(attention_forward(group_variant("attention", 64, 64)));
    CHECK(emit::nvptx::why_not_attention_group(in_float, target::gpu_of("sm_90a")) ==
          "it has Q in memory as float32");
    for (const Kernel& one : attention_gradients(group_variant("attention", 64, 64)))
        CHECK(emit::nvptx::why_not_attention_group(in_bfloat16(one), target::gpu_of("sm_90a"))
                  .has_value());
}

TEST_CASE("ptxas has nothing against attention by groups of warps") {
    const auto complaints =
        complaints_of_ptxas(emit_and_parse(all_kernels(), "sm_90a").ptx.text, "sm_90a");
    if (complaints) CHECK(*complaints == "");
}
