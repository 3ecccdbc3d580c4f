// Gradients of attention by groups of warps (sm_90a): on the interpreter against the float64
// evaluator, over odd lengths, schedules and the padding; each wait, arrival and fence is needed.
#include <doctest/doctest.h>

#include <algorithm>

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

/// Of the weights and their gradients, which products take in 8 bits.
constexpr double kGradientTolerance = 5e-2;

constexpr std::uint16_t kNotANumberBits = 0x7fc0, kInfinityBits = 0x7f80;
// Buffers of gradients with lengths.
constexpr std::size_t kKeys = 1, kValues = 2, kLengths = 6, kQueryGradient = 7;

std::vector<Kernel> gradients(const AttentionVariant& variant) {
    std::vector<Kernel> kernels = attention_gradients(variant);
    for (Kernel& kernel : kernels) kernel = in_bfloat16_memory(std::move(kernel));
    return kernels;
}

std::vector<Kernel> all_gradients() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : group_variants())
        for (const Kernel& kernel : gradients(variant)) kernels.push_back(kernel);
    return kernels;
}

/// The same with a length of all sequences; keys and values behind it are of one bit pattern.
Arrays padded_arrays(const Kernel& kernel, const DimValues& dims, std::int32_t length,
                     std::uint16_t padding) {
    Arrays arrays(kernel, dims, length, 11);
    std::fill(arrays.integers[kLengths].begin(), arrays.integers[kLengths].end(), length);
    const auto keys = std::size_t(dims.at("n"));
    for (const std::size_t buffer : {kKeys, kValues})
        for (std::size_t at = 0; at < arrays.halves[buffer].size(); ++at)
            if (at / 64 % keys >= std::size_t(length)) arrays.halves[buffer][at] = padding;
    return arrays;
}

}  // namespace

TEST_CASE("gradients of attention by groups of warps agree with the evaluator") {
    constexpr std::pair<int, int> kSizes[] = {{0, 5},    {5, 0},     {1, 1},
                                              {33, 140}, {256, 130}, {300, 300}};
    const Emitted emitted = emit_and_parse(all_gradients(), "sm_90a");
    const std::vector<ptx::Schedule> schedules = ptx::schedules();
    for (std::size_t number = 0; number < emitted.kernels.size(); ++number) {
        for (const emit::PtxLaunch& launch : emitted.ptx.kernels[number].launches)
            CHECK(launch.maps.size() == 4);
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
            const DimValues dims = group_sizes(i == 3 ? 2 : 1, kSizes[i].first, kSizes[i].second);
            const Kernel& kernel = emitted.kernels[number];
            check_kernel(
                emitted, number, dims,
                [&] { return Arrays(kernel, dims, kSizes[i].second + 1, 11); }, number + i,
                kGradientTolerance);
        }
    }
}

TEST_CASE("gradients by groups of warps read nothing of the padding of keys") {
    AttentionVariant variant = group_variant("padded", 64, 64);
    variant.lengths = AttentionVariant::Lengths::sequences;
    const Emitted emitted = emit_and_parse({gradients(variant)[1]}, "sm_90a");
    const DimValues dims = group_sizes(1, 70, 300);
    Arrays right = padded_arrays(emitted.kernels[0], dims, 150, 0);
    run_ptx(emitted, 0, dims, right);
    for (const std::uint16_t padding : {kNotANumberBits, kInfinityBits}) {
        Arrays arrays = padded_arrays(emitted.kernels[0], dims, 150, padding);
        run_ptx(emitted, 0, dims, arrays);
        CHECK(arrays.halves[kQueryGradient] == right.halves[kQueryGradient]);
    }
}

// Of each of the two kernels no schedule misses two fences, which registers of the machine need and
// those of PTX do not (ptxas adds them, and says so), and the wait between the halves of a masked
// tile, without which ptxas runs out of registers.
TEST_CASE("waits and fences of gradients by groups of warps are needed") {
    AttentionVariant variant = group_variant("gradient", 64, 64);
    variant.lengths = AttentionVariant::Lengths::sequences;
    // Five tiles of queries and six of keys: copies have fallen far behind at the last.
    const DimValues dims = group_sizes(1, 260, 800);
    for (const Kernel& kernel : gradients(variant)) {
        const Waits waits = waits_of(emit_and_parse({kernel}, "sm_90a"), dims, [&] {
            return padded_arrays(kernel, dims, 750, kNotANumberBits);
        });
        CHECK(waits.all > 25);
        const auto unneeded = [&](const char* line) {
            return std::count(waits.unneeded.begin(), waits.unneeded.end(), std::string(line));
        };
        CHECK(unneeded("\twgmma.fence.sync.aligned;") <= 2);
        CHECK(unneeded("\twgmma.wait_group.sync.aligned 0;") <= 1);
        CHECK(waits.unneeded.size() <= 3);
    }
}

TEST_CASE("why gradients of attention are not for groups of warps is said") {
    const auto reason = [](const AttentionVariant& variant) {
        const Kernel part = gradients(variant)[0];
        return emit::nvptx::why_not_attention_group(part, target::gpu_of("sm_90a")).value_or("");
    };
    CHECK(reason(group_variant("attention", 64, 128)) == "");
    CHECK(reason(group_variant("attention", 32, 64)) ==
          "it has rows of 32 elements, not of 64 or 128");
    AttentionVariant biased = group_variant("biased", 64, 64);
    biased.bias = true;
    CHECK(reason(biased) == "it has a store inside of its loop");
}

TEST_CASE("ptxas has nothing against gradients by groups of warps") {
    check_ptxas(all_gradients(), {"sm_90a"});
}
