// Attention whose tensors lie in memory as float16: by mma.sync, and by groups of warps.
#include <doctest/doctest.h>

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/group_variants.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

/// Weights and their gradients are taken in 11 bits.
constexpr double kOfValues = 1. / 512, kOfGradients = 1. / 128;

void check_attention(const std::vector<Kernel>& kernels, const std::string& architecture) {
    constexpr std::pair<int, int> kLengths[] = {{1, 1}, {33, 140}, {200, 10}};
    const Emitted emitted = emit_and_parse(kernels, architecture);
    for (std::size_t number = 0; number < kernels.size(); ++number)
        for (const auto& [queries, keys] : kLengths) {
            const Kernel& kernel = emitted.kernels[number];
            const DimValues dims = attention_sizes(1, queries, keys);
            const int limit = keys + 1;
            const bool backward = kernel.name.find("gradient") != std::string::npos;
            check_kernel(
                emitted, number, dims, [&] { return Arrays(kernel, dims, limit, 11); }, number,
                backward ? kOfGradients : kOfValues);
        }
}

}  // namespace

TEST_CASE("attention of float16 agrees with the evaluator") {
    std::vector<Kernel> kernels;
    for (const char* name : {"padded", "causal_padded", "dropout"})
        for (const Kernel& kernel : attention_kernels(in_bfloat16_memory(attention_variant(name))))
            kernels.push_back(in_float16(kernel));
    check_attention(kernels, "sm_80");
    const std::string text = emit_and_parse({kernels[0]}, "sm_80").ptx.text;
    CHECK(text.find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") != text.npos);
    CHECK(text.find("bf16") == text.npos);
}

TEST_CASE("attention of float16 by groups of warps agrees with the evaluator") {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : group_variants()) {
        if (variant.name.starts_with("by_") || variant.width != 64) continue;
        kernels.push_back(in_float16(attention_forward(variant)));
        if (variant.score == Score::alibi_by_head)
            continue;  // gradients of it are larger than 65504
        for (const Kernel& kernel : attention_gradients(variant))
            kernels.push_back(in_float16(kernel));
    }
    REQUIRE(kernels.size() > 10);
    for (const Kernel& kernel : kernels)
        CHECK(!emit::nvptx::why_not_attention_group(kernel, target::gpu_of("sm_90a")));
    check_attention(turns_of(kernels, 3), "sm_90a");  // bfloat16 takes all
    const std::string text = emit_and_parse({kernels[0]}, "sm_90a").ptx.text;
    CHECK(text.find("k16.f32.f16.f16") != text.npos);
    CHECK(text.find("bf16") == text.npos);
}

TEST_CASE("operands of the other half pass through registers, and no group of warps takes them") {
    Kernel kernel = in_float16(attention_forward(in_bfloat16_memory(attention_variant("padded"))));
    kernel.buffers[loaded_buffer(kernel, "key")].dtype = bf16;
    const auto reason =
        emit::nvptx::why_not_attention_group(kernel, target::gpu_of("sm_90a")).value_or("");
    CHECK(reason.find("in memory as bfloat16") != reason.npos);
    check_attention({kernel}, "sm_80");
}
