// Attention whose tensors lie in memory as bfloat16: tiles come by asynchronous copies.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/emit/nvptx/tiles/tile_matrix_plan.h"
#include "tests/lower/attention_kernels.h"
#include "tests/nvptx/run_ptx.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::test;
using kernel::DimValues;
using kernel::Kernel;

namespace {

AttentionVariant of_width(int width, bool causal) {
    return in_bfloat16_memory({.name = (causal ? "causal_" : "full_") + std::to_string(width),
                               .width = width,
                               .value_width = width,
                               .window = causal ? kCausal : KeyWindow{}});
}

/// Those of which every product can be one of matrices, of all widths that tiles have.
std::vector<AttentionVariant> copied_variants() {
    std::vector<AttentionVariant> all;
    for (const AttentionVariant& variant : attention_variants())
        if (variant.width % 16 == 0 && variant.value_width % 16 == 0 &&
            variant.value_width <= 128 && variant.score != Score::additive)
            all.push_back(in_bfloat16_memory(variant));
    for (const int width : {48, 96, 128}) all.push_back(of_width(width, width == 128));
    all.push_back(of_width(64, true).lie(Lying::heads_inside));
    all.back().name = "heads_inside_64";
    return all;
}

std::vector<Kernel> copied_kernels() {
    std::vector<Kernel> kernels;
    for (const AttentionVariant& variant : copied_variants())
        for (const Kernel& kernel : attention_kernels(variant)) kernels.push_back(kernel);
    return kernels;
}

std::string plan_text(const Kernel& kernel) {
    return print(emit::nvptx::plan_tile_matrices(kernel, {}));
}

}  // namespace

TEST_CASE("attention of bfloat16 in memory agrees with the evaluator") {
    constexpr std::pair<int, int> kLengths[] = {{0, 5},    {5, 0},    {1, 1},   {33, 65},
                                                {10, 200}, {200, 10}, {70, 140}};
    const std::vector<Kernel> kernels = copied_kernels();
    const Emitted emitted = emit_and_parse(kernels);
    for (std::size_t number = 0; number < kernels.size(); ++number)
        for (std::size_t i = 0; i < std::size(kLengths); ++i) {
            const Kernel& kernel = kernels[number];
            const auto [queries, keys] = kLengths[i];
            const DimValues dims = attention_sizes(keys == 10 ? 2 : 1, queries, keys);
            const int limit = keys + 1;
            const bool backward = kernel.name.find("gradient") != std::string::npos;
            check_kernel(
                emitted, number, dims, [&] { return Arrays(kernel, dims, limit, 11); }, number + i,
                backward ? 5e-2 : 1e-2);
        }
}

TEST_CASE("tiles of bfloat16 come a tile ahead where their rows are pieces of 16 bytes") {
    for (const Kernel& kernel : copied_kernels()) {
        CAPTURE(kernel.name);
        CHECK(plan_text(kernel).find("a tile ahead") != std::string::npos);
        CHECK(plan_text(kernel).find("through registers") == std::string::npos);
        const std::string text = emit_and_parse({kernel}).ptx.text;
        CHECK(text.find("cp.async.cg.shared.global") != std::string::npos);
        CHECK(text.find("ldmatrix") != std::string::npos);
    }
    CHECK(plan_text(attention_forward(of_width(64, false))) ==
          "64 rows, tiles of 64 columns, 40960 bytes; query: at once, kept in registers; key: a "
          "tile ahead; value: a tile ahead");
    CHECK(plan_text(attention_forward(in_bfloat16({}))).find("it is no bfloat16 in memory") !=
          std::string::npos);
    Kernel moved = attention_forward(of_width(64, false));
    for (kernel::Node& node : moved.nodes)
        if (auto load = std::get_if<kernel::Load>(&node.operation)) load->access.offset = Dim(1);
    CHECK(plan_text(moved).find("its rows are no pieces of 16 bytes") != std::string::npos);
}

TEST_CASE("every wait of attention with asynchronous copies is needed") {
    const auto check = [](const Kernel& kernel, const DimValues& dims) {
        CAPTURE(kernel.name);
        const Waits waits =
            waits_of(emit_and_parse({kernel}), dims, [&] { return Arrays(kernel, dims, 2, 11); });
        CHECK(waits.all > 0);
        CHECK(waits.unneeded.empty());
        for (const std::string& line : waits.unneeded) MESSAGE(line);
    };
    for (const Kernel& kernel : attention_kernels(of_width(64, false)))
        check(kernel, attention_sizes(1, 140, 140));
    for (const Kernel& kernel : attention_kernels(of_width(32, true)))
        check(kernel, attention_sizes(1, 200, 200));
}

TEST_CASE("ptxas has nothing against attention with asynchronous copies") {
    check_ptxas(copied_kernels(), {"sm_80", "sm_90", "sm_90a"});
}
