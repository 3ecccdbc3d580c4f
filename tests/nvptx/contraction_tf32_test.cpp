// Contractions of tf32: PTX on the interpreter against the float64 evaluator, whose operands are
// rounded as the kernels round them, for each way in which they lie in memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/builder.h"
#include "codegen/ptx/instructions/half.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

constexpr double kSumTolerance = 3e-6;  // sums are float32

emit::nvptx::ContractionPlan tf_plan_of(const Kernel& kernel, bool wgmma = false) {
    return emit::nvptx::plan_contraction(
        kernel, {.aligned = true, .target = target::gpu_of(wgmma ? "sm_90a" : "sm_90")});
}

struct TfProduct {
    std::string name;
    Dim rows = "m", columns = "n", depth = "k";
    bool transposed_x = false, transposed_w = false;
    DType x = DType::f32;
};

/// y = relu(x w)
Kernel tf_product(const TfProduct& p) {
    Builder it(p.name);
    const AxisId i = it.axis("i", p.rows), j = it.axis("j", p.columns), d = it.axis("d", p.depth);
    const int x = p.transposed_x ? it.input("x", {p.depth, p.rows}, p.x)
                                 : it.input("x", {p.rows, p.depth}, p.x);
    const int w =
        p.transposed_w ? it.input("w", {p.columns, p.depth}) : it.input("w", {p.depth, p.columns});
    const int y = it.output("y", {p.rows, p.columns});
    it.par({i, j}, [&] {
        const Id a = it.load(p.transposed_x ? it.at(x, {d, i}) : it.at(x, {i, d}));
        const Id c = it.load(p.transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        const Id sum = it.contract(a, c, {d}, Factors::tf32);
        it.store(it.at(y, {i, j}), it.map(Elementwise::relu, {sum}));
    });
    return it.finish();
}

/// Both operands in both layouts, with these sizes.
std::vector<Kernel> in_all_layouts(const std::string& name, const Dim& rows, const Dim& columns,
                                   const Dim& depth) {
    std::vector<Kernel> kernels;
    for (const bool x : {false, true})
        for (const bool w : {false, true})
            kernels.push_back(tf_product(
                {name + (x ? "_tx" : "_x") + (w ? "_tw" : "_w"), rows, columns, depth, x, w}));
    return kernels;
}

/// The sample kernels of float32, whose products may be of tf32.
std::vector<Kernel> sample_products() {
    std::vector<Kernel> kernels = sample_contractions();
    std::erase_if(kernels, [](const Kernel& kernel) {
        return emit::nvptx::why_not_contraction(kernel).has_value();
    });
    for (Kernel& kernel : kernels)
        for (kernel::Node& node : kernel.nodes)
            if (auto contract = std::get_if<Contract>(&node.operation))
                contract->factors = Factors::tf32;
    return kernels;
}

/// What the kernel rounds is so for the evaluator, too. Products without rows stay float32.
void round_operands(const Kernel& kernel, Arrays& arrays) {
    if (tf_plan_of(kernel).form == emit::nvptx::ContractionForm::vector) return;
    for (const kernel::Node& node : kernel.nodes) {
        const auto* contract = std::get_if<Contract>(&node.operation);
        if (!contract) continue;
        for (const Id operand : {contract->a, contract->b})
            for (double& value :
                 arrays.exact[std::size_t(as<Load>(kernel, operand)->access.buffer)])
                value = std::bit_cast<float>(ptx::to_tf32(float(value)));
    }
}

/// All schedules agree with the evaluator, in the same bits.
void check_tf(const std::vector<Kernel>& kernels, const std::vector<DimValues>& sizes,
              const std::string& architecture) {
    CAPTURE(architecture);
    const Emitted emitted = emit_and_parse(kernels, as_for_many_rows(architecture));
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes) {
            CAPTURE(kernels[i].name);
            for (const auto& [name, value] : dims) CAPTURE(name + " = " + std::to_string(value));
            Arrays first(kernels[i], dims, 7, 11);
            run_ptx(emitted, i, dims, first);
            round_operands(kernels[i], first);
            check_against_evaluator(kernels[i], dims, first, kSumTolerance);
            for (const ptx::Schedule& schedule : ptx::schedules()) {
                Arrays other(kernels[i], dims, 7, 11);
                run_ptx(emitted, i, dims, other, schedule);
                CHECK(same_bits(first, other));
            }
        }
}

const std::vector<DimValues> kProductSizes = {{{"m", 0}, {"n", 5}, {"k", 3}, {"b", 2}},
                                              {{"m", 1}, {"n", 1}, {"k", 1}, {"b", 1}},
                                              {{"m", 33}, {"n", 17}, {"k", 20}, {"b", 2}},
                                              {{"m", 70}, {"n", 100}, {"k", 35}, {"b", 1}},
                                              {{"m", 5}, {"n", 40}, {"k", 0}, {"b", 3}}};

/// Products that sm_90a multiplies by wgmma: small, of overlapping tiles, and the largest.
std::vector<Kernel> tf_group_products() {
    const auto with = [](const char* name, Dim columns, Dim depth) {
        return tf_product({.name = name, .columns = columns, .depth = depth, .transposed_w = true});
    };
    return {with("small", 72, 68), with("short", 80, 4), with("symbolic", 64, Dim("k") * Dim(4)),
            with("large", 520, 100), with("very_large", 2052, 68)};
}

}  // namespace

TEST_CASE("contractions of tf32 in PTX agree with the evaluator of rounded operands") {
    check_tf(sample_products(), kProductSizes, "sm_80");
    check_tf(in_all_layouts("symbolic", "m", "n", "k"), kProductSizes, "sm_80");
    check_tf(in_all_layouts("groups", 36, 52, 44), {{{"m", 0}}}, "sm_80");
    check_tf(in_all_layouts("odd", 37, 51, 45), {{{"m", 0}}}, "sm_80");
    check_tf({tf_product({.name = "widened", .x = DType::bf16}),
              tf_product({.name = "widened_t", .transposed_x = true, .x = DType::bf16})},
             kProductSizes, "sm_80");
}

TEST_CASE("large tiles of tf32 agree with the evaluator of rounded operands") {
    const std::vector<Kernel> kernels = in_all_layouts("large", "m", 520, 40);
    for (const Kernel& kernel : kernels) CHECK(tf_plan_of(kernel).tile_columns == 128);
    check_tf(kernels, {{{"m", 130}}}, "sm_80");
}

TEST_CASE("contractions of tf32 by wgmma agree with the evaluator of rounded operands") {
    for (const Kernel& kernel : tf_group_products()) {
        CAPTURE(kernel.name);
        CHECK(tf_plan_of(kernel, true).form == emit::nvptx::ContractionForm::group);
        CHECK(tf_plan_of(kernel, true).copies_boxes());
    }
    check_tf(tf_group_products(),
             {{{"m", 0}, {"k", 3}}, {{"m", 1}, {"k", 0}}, {{"m", 130}, {"k", 33}}}, "sm_90a");
}

TEST_CASE("how products of tf32 are cut, and why not by wgmma") {
    const auto why_not = [](const TfProduct& p) {
        const Kernel kernel = tf_product(p);
        const auto plan = tf_plan_of(kernel, true);
        CHECK(plan.form == emit::nvptx::ContractionForm::matrix);
        return why_not_group(kernel, plan).value_or("");
    };
    CHECK(why_not({.name = "rows", .columns = 72, .depth = 68}) ==
          "an operand is not contiguous along K, as wgmma reads tf32");
    CHECK(why_not({.name = "odd", .columns = 72, .depth = 67, .transposed_w = true}) ==
          "an operand of tf32 has no tensor map");
    CHECK(why_not({.name = "narrow", .columns = 20, .depth = 68, .transposed_w = true}) ==
          "a tile is smaller than 64 x 64");
    const auto anywhere = emit::nvptx::plan_contraction(
        tf_group_products()[0], {.aligned = false, .target = target::gpu_of("sm_90a")});
    CHECK(why_not_group(tf_group_products()[0], anywhere) == "buffers are not aligned to 16 bytes");
    CHECK(!anywhere.copies_boxes());
    const Kernel rows = tf_product({.name = "rows", .columns = 72, .depth = 68});
    CHECK(why_not_group(rows, tf_plan_of(rows)) == "the architecture has no wgmma");
    CHECK(print(rows, tf_plan_of(rows)) ==
          "matrix of tf32, 64 x 64 x 16, 128 threads, 4 stages; a: i, depth inside, 4 at once; "
          "b: j, it inside, 4 at once");
    CHECK(print(tf_group_products()[4], tf_plan_of(tf_group_products()[4], true)) ==
          "group of tf32, 128 x 256 x 32, 256 threads, 4 stages that overlap; a: i, depth inside, "
          "4 at once in boxes; b: j, depth inside, 4 at once in boxes");
}

TEST_CASE("PTX says which form products of tf32 have") {
    const std::vector<Kernel> kernels = {tf_group_products()[0], tf_product({.name = "rows"})};
    const auto form = [&](const char* architecture, std::size_t kernel) {
        return emit::emit_ptx(kernels, as_for_many_rows(architecture))
            .kernels[kernel]
            .launches[0]
            .form;
    };
    const std::string by_warps =
        "products of tf32 by warps (mma.sync), not by groups of them (wgmma): ";
    CHECK(form("sm_90a", 0) == "products of tf32 by groups of warps (wgmma)");
    CHECK(form("sm_90", 0) == by_warps + "the architecture has no wgmma");
    CHECK(form("sm_90a", 1) ==
          by_warps + "an operand is not contiguous along K, as wgmma reads tf32");
}

TEST_CASE("a contraction of tf32 without one of its barriers or waits is noticed") {
    const DimValues dims{{"m", 72}, {"n", 50}, {"k", 57}};
    const auto check_waits = [&](const Kernel& kernel, const std::string& architecture) {
        CAPTURE(kernel.name);
        const Waits waits = waits_of(emit_and_parse({kernel}, as_for_many_rows(architecture)), dims,
                                     [&] { return Arrays(kernel, dims, 7, 11); });
        CHECK(waits.all > 0);
        for (const std::string& line : waits.unneeded) CHECK(line == "");
    };
    check_waits(tf_product({.name = "rows"}), "sm_80");
    check_waits(tf_product({.name = "columns", .transposed_x = true, .transposed_w = true}),
                "sm_80");
    check_waits(
        tf_product(
            {.name = "boxes", .columns = 512, .depth = Dim("k") * Dim(8), .transposed_w = true}),
        "sm_90a");
}

TEST_CASE("ptxas has nothing against contractions of tf32") {
    std::vector<Kernel> kernels = sample_products();
    for (const auto& more :
         {in_all_layouts("symbolic", "m", "n", "k"), in_all_layouts("large", "m", 520, 40),
          in_all_layouts("odd", 37, 51, 45), tf_group_products()})
        kernels.insert(kernels.end(), more.begin(), more.end());
    check_ptxas(kernels, {"sm_80", "sm_90", "sm_90a"});
}
