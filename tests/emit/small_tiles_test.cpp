// Attention over few queries and keys: one small tile gives the bits of the loop over tiles.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/emit/compiled_model.h"
#include "tests/lower/attention_kernels.h"

using namespace fovea;
using namespace fovea::test;
using kernel::Buffer;
using kernel::DimValues;
using kernel::Kernel;
using kernel::value_of;

namespace {

constexpr std::int64_t kManyQueries = 40;

/// Calls body(i, j) for the elements of a buffer at the smaller sizes: i there, j at the larger.
template <class Body>
void for_elements(const Buffer& buffer, const DimValues& small, const DimValues& large,
                  const Body& body) {
    std::vector<std::int64_t> index(buffer.shape.size());
    for (std::size_t i = 0;; ++i) {
        std::size_t j = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis)
            j = j * std::size_t(value_of(buffer.shape[axis], large)) + std::size_t(index[axis]);
        body(i, j, index);
        std::size_t axis = index.size();
        while (axis > 0 && ++index[axis - 1] == value_of(buffer.shape[axis - 1], small))
            index[--axis] = 0;
        if (axis == 0) return;
    }
}

/// Whether a kernel reads a buffer as the gradient of the output or as its sums with the output.
bool is_cotangent(const Kernel& kernel, std::size_t buffer) {
    if (kernel.name.find("gradient") == std::string::npos) return false;
    return buffer == loaded_buffer(kernel, "cotangent") || buffer == loaded_buffer(kernel, "delta");
}

/// Runs a kernel on few queries, and on many of which these are the first; the others have no
/// cotangents, so they add nothing to the gradients of keys and values.
void check_same_bits(const runtime::Model& model, int number, const Kernel& kernel, bool draws,
                     std::int64_t queries, std::int64_t keys) {
    CAPTURE(kernel.name);
    CAPTURE(queries);
    CAPTURE(keys);
    const DimValues few = attention_sizes(2, queries, keys),
                    many = attention_sizes(2, kManyQueries, keys);
    Arrays small(kernel, few, int(keys) + 1, 3), large(kernel, many, int(keys) + 1, 5);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const Buffer& buffer = kernel.buffers[i];
        if (buffer.written) continue;
        const bool of_output = is_cotangent(kernel, i);
        if (of_output) std::fill(large.floats[i].begin(), large.floats[i].end(), 0.F);
        if (of_output) std::fill(large.halves[i].begin(), large.halves[i].end(), 0);
        for_elements(buffer, few, many, [&](std::size_t at, std::size_t from, const auto&) {
            if (of_output) large.floats[i][from] = small.floats[i][at];
            if (of_output) large.halves[i][from] = small.halves[i][at];
            small.floats[i][at] = large.floats[i][from];
            small.halves[i][at] = large.halves[i][from];
            small.integers[i][at] = large.integers[i][from];
            small.booleans[i][at] = large.booleans[i][from];
        });
    }
    run_program(model, number, few, small, 1);
    run_program(model, number, many, large, 1);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const Buffer& buffer = kernel.buffers[i];
        if (!buffer.written) continue;
        CAPTURE(buffer.name);
        const std::size_t batch = buffer.shape[0] == Dim("batch") ? 0 : 1;  // 1: of statistics
        bool same = true;
        for_elements(buffer, few, many, [&](std::size_t at, std::size_t from, const auto& index) {
            // Dropout numbers the queries of all heads, so only those of the first one agree.
            const bool is_first = index[batch] == 0 && index[batch + 1] == 0;
            if (draws && !is_first) return;
            same &= is_half(buffer.dtype) ? small.halves[i][at] == large.halves[i][from]
                                          : small.floats[i][at] == large.floats[i][from];
        });
        CHECK(same);
    }
}

void check_kernels(const std::vector<Kernel>& kernels, const std::vector<bool>& draws,
                   const std::string& isa) {
    const runtime::Model& model = compile_and_load(model_of_kernels("small_tiles", kernels), isa);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const auto& [queries, keys] : {std::pair{1, 1}, {16, 16}, {10, 9}, {5, 3}, {13, 12}})
            check_same_bits(model, int(i), kernels[i], draws[i], queries, keys);
}

}  // namespace

TEST_CASE("attention in one small tile has the bits of the loop over tiles") {
    if (!has_turn(0, 2)) return;
    const std::vector<std::string> isas = isas_by_turns();
    const auto scores =
        turns_of(std::vector<std::string>{"uniform", "alibi", "additive", "dropout"}, 4);
    for (const std::string& isa : isas) {
        CAPTURE(isa);
        std::vector<Kernel> kernels;
        std::vector<bool> draws;
        for (AttentionVariant variant : attention_variants()) {
            const bool everywhere = variant.name == "heads_inside";
            const bool chosen = std::ranges::find(scores, variant.name) != scores.end();
            if (!everywhere && !(chosen && isa == isas.front())) continue;
            variant.width = variant.name == "heads_inside" ? 8 : 16;
            variant.value_width = variant.name == "alibi" ? 5 : 8;
            for (Kernel (*build)(const AttentionVariant&) : {attention_forward, attention_backward})
                kernels.push_back(build(variant)), draws.push_back(variant.dropout > 0);
        }
        check_kernels(kernels, draws, isa);
    }
}

TEST_CASE("attention in bfloat16 has them in one small tile, too") {
    AttentionVariant variant = in_bfloat16_memory(attention_variant("uniform"));
    variant.width = 16, variant.value_width = 24;
    check_kernels({attention_forward(variant), attention_backward(variant)}, {false, false},
                  isas_here({.bfloat16 = true}).front());
}
