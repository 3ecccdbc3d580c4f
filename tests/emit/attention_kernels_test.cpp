// Emitted attention, compiled and run: against the float64 evaluator over odd lengths, and bit by
// bit over the number of threads and the padding.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/emit/compiled_model.h"
#include "tests/lower/attention_kernels.h"

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
    check_against_evaluator(kernel, dims, one,
                            kernel.name == "alibi_attention_gradient" ? 1e-4 : 5e-6);
}

/// Every variant on the first instruction set; on the others those that differ there.
void check_variants(const std::string& name, Kernel (*build)(const AttentionVariant&)) {
    const std::vector<std::string> isas = isas_here();
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        std::vector<Kernel> kernels;
        for (const AttentionVariant& variant : attention_variants()) {
            const bool everywhere = variant.name == "by_query" || variant.name == "dropout";
            if (everywhere || isa == isas.front()) kernels.push_back(build(variant));
        }
        const runtime::Model& model = compile_and_load(model_of_kernels(name, kernels), isa, "-Og");
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (const auto& [queries, keys] : kLengths)
                check(model, int(i), kernels[i],
                      attention_sizes(keys == 10 ? 2 : 1, queries, keys));
        if (isa == isas.front()) check(model, 2, kernels[2], attention_sizes(1, 70, 140));
    }
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
std::vector<float> padded_output(const runtime::Model& model, int number, const Kernel& kernel,
                                 std::int64_t queries, std::int64_t keys) {
    const DimValues longest = attention_sizes(1, 200, 200),
                    dims = attention_sizes(1, queries, keys);
    const Arrays all(kernel, longest, 7, 5);
    Arrays some(kernel, dims, 7, 5);
    for (const char* operand : {"query", "key", "value"}) {
        const std::size_t i = loaded_buffer(kernel, operand);
        const bool is_query = operand == std::string_view("query");
        const std::vector<float> rows = first_rows(all.floats[i], 200, is_query ? queries : keys);
        std::copy(rows.begin(), rows.end(), some.floats[i].begin());
    }
    some.integers[loaded_buffer(kernel, "length")][0] = 21;
    run_program(model, number, dims, some, 2);
    return first_rows(some.floats[written_buffer(kernel)], queries, 10);
}

}  // namespace

TEST_CASE("attention's bits do not depend on how far its sequences are padded") {
    std::vector<Kernel> kernels;
    for (const char* variant : {"padded", "causal_padded"})
        kernels.push_back(attention_forward(attention_variant(variant)));
    const std::string isa = isas_here().front();
    const runtime::Model& model = compile_and_load(model_of_kernels("padding", kernels), isa);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        CAPTURE(kernels[i].name);
        const std::vector<float> shortest = padded_output(model, int(i), kernels[i], 10, 21);
        CHECK(padded_output(model, int(i), kernels[i], 70, 21) == shortest);
        CHECK(padded_output(model, int(i), kernels[i], 10, 150) == shortest);
        CHECK(padded_output(model, int(i), kernels[i], 130, 200) == shortest);
    }
}

TEST_CASE("attention agrees with the evaluator") {
    check_variants("attention_forward", attention_forward);
}

TEST_CASE("the gradient of attention agrees with the evaluator") {
    check_variants("attention_backward", attention_backward);
}
