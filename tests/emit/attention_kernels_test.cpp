// Emitted attention, compiled and run: against the float64 evaluator over odd lengths, and bit by
// bit over the number of threads and the padding.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/emit/compiled_model.h"
#include "tests/emit/padded_attention.h"
#include "tests/lower/attention_kernels.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

constexpr std::pair<int, int> kLengths[] = {{0, 5},   {5, 0},    {1, 1},  {10, 10},
                                            {33, 65}, {10, 140}, {70, 10}};

void check(const runtime::Model& model, int number, const Kernel& kernel, const DimValues& dims) {
    CAPTURE(kernel.name);
    CAPTURE(dims.at("queries"));
    CAPTURE(dims.at("keys"));
    const int limit = int(dims.at("keys")) + 1;
    Arrays one(kernel, dims, limit, 11), three(kernel, dims, limit, 11);
    run_program(model, number, dims, one, 1);
    run_program(model, number, dims, three, 3);
    CHECK(same_bits(one, three));
    // The gradient of a slope adds many products of either sign.
    const bool rounds = kernel.name.find("bfloat16") != std::string::npos;
    check_against_evaluator(kernel, dims, one,
                            rounds                                      ? 0.02
                            : kernel.name == "alibi_attention_gradient" ? 1e-4
                                                                        : 5e-6);
}

AttentionVariant in_float32(AttentionVariant variant) { return variant; }

/// The variants on the first instruction set, a fifth of them by chance unless FOVEA_WHOLE is set;
/// on the others those that differ there.
void check_variants(const std::string& name, Kernel (*build)(const AttentionVariant&)) {
    const std::vector<std::string> isas = isas_by_turns();
    const bool whole = takes_all();
    unsigned turn = random_seed();
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        std::vector<Kernel> kernels;
        for (const AttentionVariant& variant : attention_variants()) {
            const bool everywhere = variant.name == "by_query" || variant.name == "dropout";
            const bool here = isa == isas.front() &&
                              (whole || variant.name == "causal_padded" || turn++ % 5 == 0);
            if (everywhere || here) kernels.push_back(build(variant));
        }
        const runtime::Model& model = compile_and_load(model_of_kernels(name, kernels), isa, "-O0");
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            for (const auto& [queries, keys] : kLengths)
                check(model, int(i), kernels[i],
                      attention_sizes(keys == 10 ? 2 : 1, queries, keys));
        }
        if (isa != isas.front()) continue;
        const auto longer = std::ranges::find_if(
            kernels, [](const Kernel& kernel) { return kernel.name.starts_with("causal_padded"); });
        REQUIRE(longer != kernels.end());
        check(model, int(longer - kernels.begin()), *longer, attention_sizes(1, 70, 140));
    }
}

}  // namespace

TEST_CASE("attention's bits do not depend on how far its sequences are padded") {
    std::vector<Kernel> kernels;
    for (const char* variant : {"padded", "causal_padded"})
        for (AttentionVariant (*in)(AttentionVariant) : {in_float32, in_bfloat16_memory})
            kernels.push_back(attention_forward(in(attention_variant(variant))));
    const std::string isa = isas_here({.bfloat16 = true}).front();
    const runtime::Model& model = compile_and_load(model_of_kernels("padding", kernels), isa);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        CAPTURE(kernels[i].name);
        check_padding(kernels[i], [&](const DimValues& dims, Arrays& arrays) {
            run_program(model, int(i), dims, arrays, 2);
        });
    }
}

TEST_CASE("attention agrees with the evaluator") {
    check_variants("attention_forward", attention_forward);
}

TEST_CASE("the gradient of attention agrees with the evaluator") {
    check_variants("attention_backward", attention_backward);
}

TEST_CASE("attention in bfloat16, and its gradient, agree with the evaluator") {
    const std::vector<std::string> isas = isas_by_turns({.bfloat16 = true});
    const bool whole = takes_all();
    unsigned turn = random_seed();
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        std::vector<Kernel> kernels;
        for (const std::string_view name :
             {"by_query", "causal_padded", "wide", "dropout", "uniform_window"}) {
            const bool here = isa == isas.front() && (whole || turn++ % 3 == 0);
            if (name != "by_query" && !here) continue;
            const AttentionVariant variant = attention_variant(name);
            kernels.push_back(attention_forward(in_bfloat16_memory(variant)));
            kernels.push_back(attention_backward(in_bfloat16_memory(variant)));
        }
        kernels.push_back(attention_forward(in_bfloat16(attention_variant("padded"))));
        const runtime::Model& model =
            compile_and_load(model_of_kernels("bfloat16", kernels), isa, "-O0");
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (const auto& [queries, keys] : kLengths)
                check(model, int(i), kernels[i],
                      attention_sizes(keys == 10 ? 2 : 1, queries, keys));
    }
}
