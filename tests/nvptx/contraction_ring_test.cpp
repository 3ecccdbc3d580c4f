// Contractions whose operands the GPU copies in boxes: PTX on the interpreter against the float64
// evaluator, for each way in which operands lie in memory.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/mutation_subject.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

constexpr auto kHalf = DType::bf16;

emit::nvptx::ContractionPlan plan_of(const Kernel& kernel) {
    return emit::nvptx::plan_contraction(kernel,
                                         {.aligned = true, .target = target::gpu_of("sm_90a")});
}

struct RingProduct {
    const char* name;
    Dim rows = "m", columns = 72, depth = 136;
    bool transposed_x = false, transposed_w = false;
    DType y = DType::f32;
};

/// y = relu(x w)
Kernel ring_product(const RingProduct& p) {
    Builder it(p.name);
    const AxisId i = it.axis("i", p.rows), j = it.axis("j", p.columns), d = it.axis("d", p.depth);
    const int x = p.transposed_x ? it.input("x", {p.depth, p.rows}, kHalf)
                                 : it.input("x", {p.rows, p.depth}, kHalf);
    const int w = p.transposed_w ? it.input("w", {p.columns, p.depth}, kHalf)
                                 : it.input("w", {p.depth, p.columns}, kHalf);
    const int y = it.output("y", {p.rows, p.columns}, p.y);
    it.par({i, j}, [&] {
        const Id a = it.load(p.transposed_x ? it.at(x, {d, i}) : it.at(x, {i, d}));
        const Id c = it.load(p.transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        it.store(it.at(y, {i, j}),
                 it.map(Elementwise::relu, {it.contract(a, c, {d}, Factors::bf16)}));
    });
    return it.finish();
}

/// For each batch and head: rows of x times the columns of w, from a matrix of all heads.
Kernel heads() {
    Builder it("heads");
    const AxisId batch = it.axis("batch", "b"), head = it.axis("head", 3), i = it.axis("i", "m");
    const AxisId j = it.axis("j", 64), d = it.axis("d", 40);
    const int x = it.input("x", {"b", "m", 3, 40}, kHalf), w = it.input("w", {3, 64, 40}, kHalf);
    const int y = it.output("y", {"b", 3, "m", 64});
    it.each(batch, [&] {
        it.each(head, [&] {
            it.par({i, j}, [&] {
                it.store(it.at(y, {batch, head, i, j}),
                         it.contract(it.load(it.at(x, {batch, i, head, d})),
                                     it.load(it.at(w, {head, j, d})), {d}, Factors::bf16));
            });
        });
    });
    return it.finish();
}

/// The gradient of a weight: the sum over batches and rows, which are one axis in memory.
Kernel over_two_axes() {
    Builder it("over_two_axes");
    const AxisId i = it.axis("i", 72), j = it.axis("j", 80);
    const AxisId batch = it.axis("batch", "b"), t = it.axis("t", "m");
    const int x = it.input("x", {"b", "m", 72}, kHalf), dy = it.input("dy", {"b", "m", 80}, kHalf);
    const int dw = it.output("dw", {72, 80});
    it.par({i, j}, [&] {
        it.accumulate(it.at(dw, {i, j}),
                      it.contract(it.load(it.at(x, {batch, t, i})),
                                  it.load(it.at(dy, {batch, t, j})), {batch, t}, Factors::bf16));
    });
    return it.finish();
}

/// The sum over heads, which lie apart in x, and over their 64 columns.
Kernel over_heads() {
    Builder it("over_heads");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", 64);
    const AxisId head = it.axis("head", 3), d = it.axis("d", 64);
    const int x = it.input("x", {3, "m", 64}, kHalf), w = it.input("w", {64, 3, 64}, kHalf);
    const int y = it.output("y", {"m", 64}, kHalf);
    it.par({i, j}, [&] {
        it.store(it.at(y, {i, j}),
                 it.contract(it.load(it.at(x, {head, i, d})), it.load(it.at(w, {j, head, d})),
                             {head, d}, Factors::bf16));
    });
    return it.finish();
}

/// Rows of x from the second on.
Kernel from_the_second_row() {
    Builder it("from_the_second_row");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", 64), d = it.axis("d", 72);
    const int x = it.input("x", {Dim("m") + Dim(1), 72}, kHalf), w = it.input("w", {64, 72}, kHalf);
    const int y = it.output("y", {"m", 64});
    it.par({i, j}, [&] {
        Access from = it.at(x, {i, d});
        from.offset = 72;
        it.store(it.at(y, {i, j}),
                 it.contract(it.load(from), it.load(it.at(w, {j, d})), {d}, Factors::bf16));
    });
    return it.finish();
}

std::vector<Kernel> small_products() {
    return {ring_product({.name = "given", .transposed_w = true}),
            ring_product({.name = "plain", .depth = 320, .y = kHalf}),
            ring_product({.name = "short", .depth = 8, .transposed_w = true}),
            ring_product({.name = "gradient", .rows = 88, .depth = "k", .transposed_x = true}),
            heads(),
            over_two_axes(),
            over_heads(),
            from_the_second_row()};
}

std::vector<Kernel> large_ring_products() {
    return {
        ring_product({.name = "large", .columns = 520, .depth = 328}),
        ring_product({.name = "large_t", .columns = 512, .depth = 72, .transposed_w = true}),
        ring_product({.name = "very_large", .columns = 2056, .depth = 328}),
        ring_product({.name = "very_large_t", .columns = 2048, .depth = 72, .transposed_w = true})};
}

/// All schedules agree with the evaluator, in the same bits.
void check_ring(const std::vector<Kernel>& kernels, const std::vector<DimValues>& sizes) {
    const Emitted emitted = emit_and_parse(kernels, as_for_many_rows("sm_90a"));
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes) {
            CAPTURE(kernels[i].name);
            CAPTURE(dims.at("m"));
            CAPTURE(dims.at("k"));
            Arrays first(kernels[i], dims, 7, 11);
            run_ptx(emitted, i, dims, first);
            const bool halves = is_half(kernels[i].buffers.back().dtype);
            check_against_evaluator(kernels[i], dims, first, halves ? 1. / 128 : 3e-6);
            for (const ptx::Schedule& schedule : ptx::schedules()) {
                Arrays other(kernels[i], dims, 7, 11);
                run_ptx(emitted, i, dims, other, schedule);
                CHECK(same_bits(first, other));
            }
        }
}

}  // namespace

TEST_CASE("contractions of boxes agree with the evaluator") {
    for (const auto& kernels : {small_products(), large_ring_products()})
        for (const Kernel& kernel : kernels) {
            CAPTURE(kernel.name);
            CHECK(plan_of(kernel).copies_boxes());
        }
    check_ring(small_products(), {{{"m", 0}, {"k", 0}, {"b", 2}},
                                  {{"m", 1}, {"k", 1}, {"b", 1}},
                                  {{"m", 70}, {"k", 0}, {"b", 0}},
                                  {{"m", 70}, {"k", 331}, {"b", 2}}});
    check_ring(large_ring_products(), {{{"m", 130}, {"k", 0}}});
}

TEST_CASE("contractions of boxes of float16 agree with the evaluator") {
    for (const Kernel& kernel : in_float16(small_products())) {
        CAPTURE(kernel.name);
        CHECK(plan_of(kernel).copies_boxes());
    }
    check_ring(in_float16(small_products()),
               {{{"m", 1}, {"k", 1}, {"b", 1}}, {{"m", 70}, {"k", 331}, {"b", 2}}});
    check_ring(in_float16(large_ring_products()), {{{"m", 130}, {"k", 0}}});
}

TEST_CASE("operands that are no tensors of the GPU's copies pass as they did") {
    const auto is_copied = [](const Kernel& kernel) { return plan_of(kernel).copies_boxes(); };
    CHECK(!is_copied(ring_product({.name = "odd_rows", .depth = 68, .transposed_w = true})));
    CHECK(!is_copied(ring_product({.name = "symbolic_rows", .depth = "k", .transposed_w = true})));
    CHECK(is_copied(ring_product({.name = "multiple_of_8", .depth = Dim("k") * Dim(8)})));
    Kernel floats = ring_product({.name = "floats"});
    floats.buffers[0].dtype = DType::f32;
    for (kernel::Node& node : floats.nodes)
        if (auto load = std::get_if<Load>(&node.operation); load && load->access.buffer == 0)
            node.dtype = DType::f32;
    CHECK(!is_copied(floats));
    CHECK(print(small_products()[0], plan_of(small_products()[0])) ==
          "group, 64 x 64 x 64, 128 threads, 4 stages that overlap; a: i, depth inside, 8 at once "
          "in boxes; b: j, depth inside, 8 at once in boxes");
    CHECK(!emit::nvptx::plan_contraction(small_products()[0],
                                         {.aligned = false, .target = target::gpu_of("sm_90a")})
               .copies_boxes());
}

TEST_CASE("a contraction of boxes without one of its barriers, waits or arrivals is noticed") {
    // Two groups of warps, and no constant sizes: nothing is unrolled, no wait is in vain.
    const DimValues dims{{"m", 72}, {"k", 57}};
    const Dim depth = Dim("k") * Dim(8);
    for (const Kernel& kernel :
         {ring_product({.name = "rows", .columns = 512, .depth = depth, .transposed_w = true}),
          ring_product({.name = "columns", .columns = 512, .depth = depth})}) {
        CAPTURE(kernel.name);
        const Waits waits = waits_of(emit_and_parse({kernel}, as_for_many_rows("sm_90a")), dims,
                                     [&] { return Arrays(kernel, dims, 7, 11); });
        CHECK(waits.all > 10);
        for (const std::string& line : waits.unneeded) CHECK(line == "");
    }
}

// None is left out as equivalent. Most that are not noticed are: sums start as copies of one zero,
// which the first product does not even add to.
TEST_CASE("mistakes in contractions of boxes are noticed") {
    const Dim depth = Dim("k") * Dim(8);
    std::vector<MutationSubject> subjects;
    for (const Kernel& kernel :
         {ring_product({.name = "rows", .columns = 72, .depth = depth, .transposed_w = true}),
          ring_product({.name = "columns", .columns = 512, .depth = depth}), heads(),
          over_two_axes(), over_heads()}) {
        std::vector<MutationRun> runs;
        for (const DimValues& dims :
             {DimValues{{"m", 72}, {"k", 43}, {"b", 2}}, DimValues{{"m", 131}, {"k", 5}, {"b", 3}}})
            runs.push_back({dims, [=] { return Arrays(kernel, dims, 7, 11); }});
        subjects.emplace_back(kernel, "sm_90a", std::move(runs), 1. / 128);
    }
    const MutationCount found = try_mutations(subjects, 100, 1);
    std::string unnoticed;
    for (const std::string& one : found.unnoticed) unnoticed += one + "\n";
    CAPTURE(unnoticed);
    CHECK(found.noticed >= 85);
}

TEST_CASE("ptxas has nothing against contractions of boxes") {
    std::vector<Kernel> kernels = small_products();
    for (const Kernel& kernel : large_ring_products()) kernels.push_back(kernel);
    const auto complaints = complaints_of_ptxas(emit::emit_ptx(kernels, "sm_90a").text, "sm_90a");
    if (complaints) CHECK(*complaints == "");
}
