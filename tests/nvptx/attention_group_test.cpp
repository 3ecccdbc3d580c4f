// Attention by groups of warps (sm_90a): on the interpreter against the float64 evaluator, over
// odd lengths, schedules and the padding; each wait, arrival and fence is needed.
#include <doctest/doctest.h>

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/target/target.h"
#include "tests/nvptx/group_variants.h"
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

Arrays attention_arrays(const Kernel& kernel, const DimValues& dims) {
    return Arrays(kernel, dims, int(dims.at("keys")) + 1, 11);
}

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : group_variants())
        kernels.push_back(attention_forward(variant));
    return kernels;
}

/// The same with a length of all sequences; values behind it are no numbers.
Arrays attention_arrays(const Kernel& kernel, const DimValues& dims, std::int32_t length) {
    Arrays arrays = attention_arrays(kernel, dims);
    const std::size_t lengths = loaded_buffer(kernel, "length"),
                      values = loaded_buffer(kernel, "value");
    for (std::size_t i = 0; i < arrays.exact[lengths].size(); ++i)
        arrays.exact[lengths][i] = arrays.integers[lengths][i] = length;
    const auto keys = std::size_t(dims.at("keys"));
    for (std::size_t at = 0; at < arrays.exact[values].size(); ++at)
        if (at / 64 % keys >= std::size_t(length)) arrays.halves[values][at] = kNotANumber;
    return arrays;
}

}  // namespace

TEST_CASE("attention by groups of warps agrees with the evaluator") {
    constexpr std::pair<int, int> kLengths[] = {{0, 5},    {5, 0},     {1, 1},
                                                {33, 140}, {130, 256}, {300, 300}};
    const Emitted emitted = emit_and_parse(all_kernels(), "sm_90a");
    for (std::size_t number = 0; number < emitted.kernels.size(); ++number) {
        CAPTURE(emitted.kernels[number].name);
        CHECK(emitted.ptx.kernels[number].launches[0].maps.size() == 3);
        for (std::size_t i = 0; i < std::size(kLengths); ++i) {
            const DimValues dims =
                attention_sizes(i == 3 ? 2 : 1, kLengths[i].first, kLengths[i].second);
            check_kernel(
                emitted, number, dims,
                [&] { return attention_arrays(emitted.kernels[number], dims); }, number + i,
                kTolerance);
        }
    }
}

TEST_CASE("attention by groups of warps reads nothing of the padding") {
    const AttentionVariant variant = in_bfloat16_memory(attention_variant("padded"));
    const Emitted emitted = emit_and_parse({attention_forward(variant)}, "sm_90a");
    const Kernel& kernel = emitted.kernels[0];
    const std::size_t queries = loaded_buffer(kernel, "query"),
                      lengths = loaded_buffer(kernel, "length"), written = written_buffer(kernel);
    const auto output = [&](std::int64_t keys, std::uint16_t padding) {
        const DimValues dims = attention_sizes(1, 20, keys);
        Arrays arrays = attention_arrays(kernel, dims),
               longest = attention_arrays(kernel, attention_sizes(1, 20, 300));
        arrays.halves[queries] = longest.halves[queries];
        for (const std::size_t i : {loaded_buffer(kernel, "key"), loaded_buffer(kernel, "value")})
            for (std::size_t head = 0; head < 2; ++head)
                for (std::size_t at = 0; at < std::size_t(keys) * 64; ++at)
                    arrays.halves[i][head * std::size_t(keys) * 64 + at] =
                        at < 150 * 64 ? longest.halves[i][head * 300 * 64 + at] : padding;
        arrays.integers[lengths][0] = 150;
        run_ptx(emitted, 0, dims, arrays);
        return std::pair(arrays.halves[written], arrays.floats[written + 1]);
    };
    const auto right = output(150, 0);
    for (const std::uint16_t padding : {kNotANumber, kInfinity})
        for (const std::int64_t keys : {151, 300}) CHECK(output(keys, padding) == right);
}

TEST_CASE("each wait, arrival and fence of attention by groups of warps is needed") {
    for (const bool causal : {false, true}) {
        const AttentionVariant variant = attention_variant(causal ? "causal_padded" : "padded");
        const Kernel kernel = attention_forward(in_bfloat16_memory(variant));
        // Six tiles of keys: copies have fallen far behind at the last, which is not whole.
        const DimValues dims = attention_sizes(1, causal ? 800 : 70, 800);
        const Waits waits = waits_of(emit_and_parse({kernel}, "sm_90a"), dims,
                                     [&] { return attention_arrays(kernel, dims, 750); });
        CHECK(waits.all > 30);
        for (const std::string& line : waits.unneeded) MESSAGE(line);
        CHECK(waits.unneeded.empty());
    }
}

TEST_CASE("why attention is not for groups of warps is said") {
    const auto reason = [](const AttentionVariant& variant) {
        return emit::nvptx::why_not_attention_group(attention_forward(variant),
                                                    target::gpu_of("sm_90a"))
            .value_or("");
    };
    CHECK(reason(in_bfloat16_memory({.value_width = 128})) == "");
    CHECK(reason(in_bfloat16_memory({.width = 32})) ==
          "it has rows of 32 elements, not of 64 or 128");
    CHECK(reason(in_bfloat16({})) == "it has Q in memory as float32");
    CHECK(reason(in_bfloat16_memory({.allowed = true, .uniform = true})) ==
          "it has several loops over tiles");
    for (const Kernel& one : attention_gradients(in_bfloat16({})))
        CHECK(emit::nvptx::why_not_attention_group(one, target::gpu_of("sm_90a")).has_value());
}

TEST_CASE("ptxas has nothing against attention by groups of warps") {
    const auto complaints =
        complaints_of_ptxas(emit_and_parse(all_kernels(), "sm_90a").ptx.text, "sm_90a");
    if (complaints) CHECK(*complaints == "");
}
