// Two products of the same rows in one kernel: their columns lie side by side in a block's tile.
#include <doctest/doctest.h>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/waits.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;
using emit::nvptx::ContractionForm;
using emit::nvptx::plan_contraction;

namespace {

std::vector<DimValues> odd_sizes() {
    std::vector<DimValues> result;
    for (std::int64_t m : {0, 1, 33, 70})
        for (std::int64_t n : {1, 17, 100})
            result.push_back({{"m", m}, {"n", n}, {"k", n + 3}, {"b", 2}});
    result.push_back({{"m", 5}, {"n", 40}, {"k", 0}, {"b", 3}});
    result.push_back({{"m", 9}, {"n", 64}, {"k", 165}, {"b", 1}});
    return result;
}

void check_gated(const std::string& architecture, const std::vector<Kernel>& kernels,
                 const std::vector<DimValues>& sizes, double tolerance, bool many_rows = false) {
    CAPTURE(architecture);
    const Emitted emitted = many_rows ? emit_and_parse(kernels, as_for_many_rows(architecture))
                                      : emit_and_parse(kernels, architecture);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes) {
            CAPTURE(kernels[i].name);
            CAPTURE(dims.at("m"));
            Arrays first(kernels[i], dims, 7, 11), second(kernels[i], dims, 7, 11);
            run_ptx(emitted, i, dims, first, ptx::schedules()[1]);
            check_against_evaluator(kernels[i], dims, first, tolerance);
            run_ptx(emitted, i, dims, second, ptx::schedules()[2]);
            CHECK(same_bits(first, second));
        }
}

/// y = (x g) * (x u) of bfloat16, both stored too.
Kernel wide(std::int64_t columns, std::int64_t depth, DType type = DType::bf16,
            Factors factors = Factors::bf16) {
    Builder it("wide");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", columns), d = it.axis("d", depth);
    const int x = it.input("x", {"m", depth}, type), g = it.input("g", {columns, depth}, type);
    const int u = it.input("u", {columns, depth}, type), y = it.output("y", {"m", columns});
    const int gates = it.output("gates", {"m", columns}), ups = it.output("ups", {"m", columns});
    it.par({i, j}, [&] {
        const Id a =
            it.contract(it.load(it.at(x, {i, d})), it.load(it.at(g, {j, d})), {d}, factors);
        const Id b =
            it.contract(it.load(it.at(x, {i, d})), it.load(it.at(u, {j, d})), {d}, factors);
        it.store(it.at(gates, {i, j}), a);
        it.store(it.at(ups, {i, j}), b);
        it.store(it.at(y, {i, j}), it.mul(a, b));
    });
    return it.finish();
}

}  // namespace

TEST_CASE("gated products in PTX agree with the evaluator") {
    if (emit::why_not_ptx()) return;
    const std::vector<const char*> architectures = {"sm_80", "sm_90a"};
    for (const char* architecture : turns_of(architectures, 2)) {
        check_gated(architecture, sample_gated_products(), odd_sizes(), 3e-6);
        check_gated(architecture, sample_gated_bfloat16_products(), odd_sizes(), 1e-5);
        check_gated(architecture, sample_gated_float16_products(), odd_sizes(), 1e-5);
    }
}

TEST_CASE("large gated products in PTX agree with the evaluator, copied in boxes too") {
    if (emit::why_not_ptx()) return;
    const std::vector<DimValues> dims{{{"m", 130}, {"k", 0}, {"n", 0}}};
    const Kernel halves = wide(1024, 136);
    const auto plan = [&](const Kernel& kernel) {
        return plan_contraction(kernel, {.aligned = true, .target = target::gpu_of("sm_90a")});
    };
    CHECK(plan(halves).form == ContractionForm::group);
    CHECK(plan(halves).copies_boxes());
    CHECK(plan(halves).own_columns() * 2 == plan(halves).tile_columns);
    check_gated("sm_90a", {halves}, dims, 1e-5, true);
    check_gated("sm_80", {wide(520, 72)}, dims, 1e-5, true);
    check_gated("sm_80", {wide(520, 40, DType::f32, Factors::f32)}, dims, 3e-6, true);
}
