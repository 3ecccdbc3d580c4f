// Gradients of attention by groups of warps (sm_90a): on the interpreter against the float64
// evaluator, over odd lengths, schedules and the padding; each wait, arrival and fence is needed.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <regex>

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/analysis/blocks.h"
#include "codegen/target/target.h"
#include "tests/nvptx/group_variants.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/nvptx/waits.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// Of the weights and their gradients, which products take in 8 bits.
constexpr double kGradientTolerance = 5e-2;

constexpr std::uint16_t kNotANumberBits = 0x7fc0, kInfinityBits = 0x7f80;

std::vector<Kernel> all_gradients() {
    std::vector<AttentionVariant> variants = group_variants();
    variants.push_back(in_bfloat16_memory({.name = "uniform_allowed",
                                           .lengths = AttentionVariant::Lengths::sequences,
                                           .allowed = true,
                                           .uniform = true}));
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : variants)
        for (const Kernel& kernel : attention_gradients(variant)) kernels.push_back(kernel);
    return kernels;
}

/// The same with a length of all sequences; keys and values behind it are of one bit pattern.
Arrays padded_arrays(const Kernel& kernel, const DimValues& dims, std::int32_t length,
                     std::uint16_t padding) {
    Arrays arrays(kernel, dims, length, 11);
    std::vector<std::int32_t>& lengths = arrays.integers[loaded_buffer(kernel, "length")];
    std::fill(lengths.begin(), lengths.end(), length);
    const auto keys = std::size_t(dims.at("keys"));
    for (const std::size_t buffer : {loaded_buffer(kernel, "key"), loaded_buffer(kernel, "value")})
        for (std::size_t at = 0; at < arrays.halves[buffer].size(); ++at)
            if (at / 64 % keys >= std::size_t(length)) arrays.halves[buffer][at] = padding;
    return arrays;
}

/// The same kernel, which also stores the first of its sums after each tile.
Kernel storing_every_tile(Kernel kernel) {
    kernel::Id id = 0;
    while (!kernel::as<kernel::Store>(kernel, id)) ++id;
    kernel::Store store = *kernel::as<kernel::Store>(kernel, id);
    const auto [loop, number] = *kernel::as<kernel::Result>(kernel, store.value);
    const kernel::Loop& tiles = *kernel::as<kernel::Loop>(kernel, loop);
    store.value = tiles.carries[std::size_t(number)].next;
    kernel::insert_node(kernel, loop, int(tiles.body.size()) - 1, store, f32);
    return kernel;
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
        for (const std::size_t i : turns_of(std::size(kSizes), 2, number)) {
            const DimValues dims =
                attention_sizes(i == 3 ? 2 : 1, kSizes[i].first, kSizes[i].second);
            const Kernel& kernel = emitted.kernels[number];
            check_kernel(
                emitted, number, dims,
                [&] { return Arrays(kernel, dims, kSizes[i].second + 1, 11); }, number + i,
                kGradientTolerance);
        }
    }
}

TEST_CASE("gradients by groups of warps read nothing of the padding of keys") {
    const AttentionVariant variant = in_bfloat16_memory(attention_variant("padded"));
    const Emitted emitted = emit_and_parse({attention_gradients(variant)[1]}, "sm_90a");
    const std::size_t written = written_buffer(emitted.kernels[0]);
    const DimValues dims = attention_sizes(1, 70, 300);
    Arrays right = padded_arrays(emitted.kernels[0], dims, 150, 0);
    run_ptx(emitted, 0, dims, right);
    for (const std::uint16_t padding : {kNotANumberBits, kInfinityBits}) {
        Arrays arrays = padded_arrays(emitted.kernels[0], dims, 150, padding);
        run_ptx(emitted, 0, dims, arrays);
        CHECK(arrays.halves[written] == right.halves[written]);
    }
}

// Of each of the two kernels no schedule misses two fences, which registers of the machine need and
// those of PTX do not (ptxas adds them, and says so), and the wait between the halves of a masked
// tile, without which ptxas runs out of registers.
TEST_CASE("waits and fences of gradients by groups of warps are needed") {
    const AttentionVariant variant = in_bfloat16_memory(attention_variant("padded"));
    // Five tiles of queries and six of keys: copies have fallen far behind at the last.
    const DimValues dims = attention_sizes(1, 260, 800);
    for (const Kernel& kernel : attention_gradients(variant)) {
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
    const auto why_not = [](const Kernel& kernel) {
        return emit::nvptx::why_not_attention_group(kernel, target::gpu_of("sm_90a")).value_or("");
    };
    const auto reason = [&](const AttentionVariant& variant) {
        return why_not(attention_gradients(variant)[0]);
    };
    CHECK(reason(in_bfloat16_memory({.value_width = 128})) == "");
    CHECK(reason(in_bfloat16_memory({.width = 32})) ==
          "it has rows of 32 elements, not of 64 or 128");
    CHECK(reason(in_bfloat16_memory({.score = Score::biased})) ==
          "it has an operand of a product that is read elsewhere");
    CHECK(why_not(attention_backward(in_bfloat16({}))) == "it has no axis of independent tiles");
    CHECK(why_not(storing_every_tile(attention_gradients(in_bfloat16_memory({}))[0])) ==
          "it has a store inside of its loop");
}

TEST_CASE("ptxas has nothing against gradients by groups of warps") {
    std::vector<Kernel> kernels = all_gradients(), crowded;
    const auto is_crowded = [](const Kernel& kernel) {
        return kernel.name == "wide_memory_bfloat16_attention_gradient" ||
               kernel.name == "dropout_memory_bfloat16_attention_gradient";
    };
    std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(crowded), is_crowded);
    std::erase_if(kernels, is_crowded);
    check_ptxas(kernels, {"sm_90a"});
    // Statistics of every column leave these two some registers short.
    CHECK(crowded.size() == 2);
    const auto complaints = complaints_of_ptxas(emit::emit_ptx(crowded, "sm_90a").text, "sm_90a");
    static const std::regex few("(.*entry function.*\n *[0-9]{1,2} bytes stack frame, .*\n)*");
    if (complaints) CHECK_MESSAGE(std::regex_match(*complaints, few), *complaints);
}
