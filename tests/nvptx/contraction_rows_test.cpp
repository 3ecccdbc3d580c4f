// Products whose number of rows, or of rows and columns, is known only at run time: smaller tiles
// for fewer, the same bits for each row.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

struct RowsProduct {
    const char* name;
    Dim rows = "m", columns = 512, depth = 72;
    Factors factors = Factors::f32;
    DType dtype = f32;
    bool transposed_w = false;
};

/// y = relu(x w)
Kernel rows_product(const RowsProduct& p) {
    Builder it(p.name);
    const AxisId i = it.axis("i", p.rows), j = it.axis("j", p.columns), d = it.axis("d", p.depth);
    // Drawn first: it does not depend on the number of rows.
    const int w = p.transposed_w ? it.input("w", {p.columns, p.depth}, p.dtype)
                                 : it.input("w", {p.depth, p.columns}, p.dtype);
    const int x = it.input("x", {p.rows, p.depth}, p.dtype);
    const int y = it.output("y", {p.rows, p.columns});
    it.par({i, j}, [&] {
        const Id a = it.load(it.at(x, {i, d}));
        const Id c = it.load(p.transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        it.store(it.at(y, {i, j}), it.map(Elementwise::relu, {it.contract(a, c, {d}, p.factors)}));
    });
    return it.finish();
}

constexpr int kGuard = 16;  // of Arrays

std::vector<Kernel> products() {
    const auto bf16 = Factors::bf16, tf32 = Factors::tf32;
    return {rows_product({.name = "scalar"}),
            rows_product({.name = "scalar_t", .columns = 514, .depth = 33, .transposed_w = true}),
            rows_product({.name = "halves", .factors = bf16, .dtype = DType::bf16}),
            rows_product({.name = "halves_t",
                          .columns = 520,
                          .depth = 200,
                          .factors = bf16,
                          .dtype = DType::bf16,
                          .transposed_w = true}),
            rows_product({.name = "rounded", .factors = bf16}),
            rows_product({.name = "odd", .columns = 517, .depth = 35, .factors = tf32}),
            rows_product({.name = "tf32", .factors = tf32}),
            rows_product({.name = "tf32_t", .factors = tf32, .transposed_w = true}),
            rows_product({.name = "narrow", .columns = 72, .factors = tf32, .transposed_w = true})};
}

std::int64_t launched_blocks(const emit::PtxLaunch& launch, const DimValues& dims) {
    std::int64_t blocks = 1;
    for (const emit::GridFactor& factor : launch.grid)
        blocks *= (value_of(factor.extent, dims) + factor.tile - 1) / factor.tile;
    return blocks;
}

/// The launches that take so many rows.
std::vector<const emit::PtxLaunch*> launches_for(const emit::PtxKernel& kernel, std::int64_t rows) {
    std::vector<const emit::PtxLaunch*> result;
    for (const emit::PtxLaunch& launch : kernel.launches)
        if (rows >= launch.range.least && rows <= launch.range.most) result.push_back(&launch);
    return result;
}

}  // namespace

TEST_CASE("every number of rows has one launch") {
    for (const char* architecture : {"sm_80", "sm_90a"})
        for (const emit::PtxKernel& kernel : emit::emit_ptx(products(), architecture).kernels) {
            CAPTURE(kernel.name);
            CHECK(kernel.launches.size() >= 2);
            for (std::int64_t rows : {0, 1, 63, 64, 65, 1000, 5000, 1 << 20}) {
                CAPTURE(rows);
                CHECK(launches_for(kernel, rows).size() == 1);
            }
            CHECK(kernel.launches.front().range.least == 0);
            CHECK(kernel.launches.back().range.most == INT64_MAX);
        }
}

TEST_CASE("few rows are shared by many blocks") {
    for (const char* architecture : {"sm_80", "sm_90a"})
        for (const emit::PtxKernel& kernel : emit::emit_ptx(products(), architecture).kernels) {
            if (kernel.name == "narrow") continue;
            CAPTURE(kernel.name);
            for (const auto& [rows, least] : {std::pair(1, 32), {32, 32}, {300, 40}}) {
                CAPTURE(rows);
                CHECK(launched_blocks(*launches_for(kernel, rows)[0], {{"m", rows}}) >= least);
            }
        }
}

TEST_CASE("the bits of a row do not depend on how many there are") {
    const std::vector<Kernel> kernels = products();
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        CAPTURE(architecture);
        // With so few blocks, more than 128 rows are many.
        target::Gpu target = target::gpu_of(architecture);
        target.blocks = 8;
        const Emitted emitted = emit_and_parse(kernels, target);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            CAPTURE(kernels[i].name);
            const auto result = [&](std::int64_t rows) {
                const DimValues dims{{"m", rows}};
                Arrays arrays(kernels[i], dims, 7, 11);
                run_ptx(emitted, i, dims, arrays);
                check_against_evaluator(kernels[i], dims, arrays,
                                        kernels[i].name == "scalar" ? 3e-6 : 2e-2);
                return std::vector(arrays.floats[2].begin(), arrays.floats[2].end() - kGuard);
            };
            const auto many = result(131);
            CHECK(emitted.ptx.kernels[i].launches.size() >= 2);
            for (std::int64_t rows : {1, 64, 70}) {
                CAPTURE(rows);
                const auto few = result(rows);
                CHECK(std::equal(few.begin(), few.end(), many.begin()));
            }
        }
    }
}

TEST_CASE("where columns are known at run time, too, the number of elements chooses") {
    const std::vector<Kernel> kernels = {
        rows_product({.name = "scalar", .columns = "n"}),
        rows_product({.name = "tf32", .columns = "n", .factors = Factors::tf32}),
        rows_product({.name = "halves",
                      .columns = "n",
                      .factors = Factors::bf16,
                      .dtype = DType::bf16,
                      .transposed_w = true})};
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        CAPTURE(architecture);
        target::Gpu target = target::gpu_of(architecture);
        target.blocks = 2;
        const Emitted emitted = emit_and_parse(kernels, target);
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            CAPTURE(kernels[i].name);
            std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
            for (const emit::PtxLaunch& launch : emitted.ptx.kernels[i].launches) {
                CHECK(launch.range.extent == Dim("m") * Dim("n"));
                ranges.emplace_back(launch.range.least, launch.range.most);
            }
            CHECK(ranges ==
                  std::vector<std::pair<std::int64_t, std::int64_t>>{
                      {0, 64 * 64}, {64 * 64 + 1, 128 * 128}, {128 * 128 + 1, INT64_MAX}});
            for (const auto& [m, n] :
                 {std::pair(3, 1000), {3, 2000}, {130, 70}, {131, 260}, {0, 9}}) {
                CAPTURE(m);
                CAPTURE(n);
                const DimValues dims{{"m", m}, {"n", n}};
                Arrays arrays(kernels[i], dims, 7, 11);
                run_ptx(emitted, i, dims, arrays);
                check_against_evaluator(kernels[i], dims, arrays,
                                        kernels[i].name == "scalar" ? 3e-6 : 2e-2);
            }
        }
    }
}

TEST_CASE("products beside each other, or of a known number of rows, have one launch") {
    Kernel kernel = rows_product({.name = "static", .rows = 40});
    CHECK(emit::nvptx::plan_contractions(kernel, {.target = target::gpu_of("sm_90")}).size() == 1);
    kernel = rows_product({.name = "wide", .columns = 1 << 15});
    CHECK(emit::nvptx::plan_contractions(kernel,
                                         {.aligned = true, .target = target::gpu_of("sm_90a")})
              .size() == 1);
}
