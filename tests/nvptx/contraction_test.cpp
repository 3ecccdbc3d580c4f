// Contractions: PTX on the interpreter against the float64 evaluator, over odd sizes, in all forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/emit/sample_kernels.h"
#include "tests/nvptx/waits.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

std::vector<DimValues> product_sizes() {
    std::vector<DimValues> result;
    for (std::int64_t m : {0, 1, 33, 70})
        for (std::int64_t n : {0, 1, 17, 100})
            result.push_back({{"m", m}, {"n", n}, {"k", n + 3}, {"b", 2}});
    result.push_back({{"m", 5}, {"n", 40}, {"k", 0}, {"b", 3}});
    result.push_back({{"m", 0}, {"n", 0}, {"k", 0}, {"b", 0}});
    result.push_back({{"m", 9}, {"n", 64}, {"k", 165}, {"b", 1}});
    return result;
}

std::vector<Kernel> with_products(std::vector<Kernel> kernels) {
    std::erase_if(kernels, [](const Kernel& kernel) {
        return emit::nvptx::why_not_contraction(kernel).has_value();
    });
    return kernels;
}

struct Product {
    const char* name;
    Dim rows = "m", columns = "n", depth = "k";
    DType x = DType::f32, w = DType::f32;
    bool transposed_x = false, transposed_w = false, halves = false;
};

/// y = x w + bias
Kernel product(const Product& p) {
    Builder it(p.name);
    const AxisId i = it.axis("i", p.rows), j = it.axis("j", p.columns), d = it.axis("d", p.depth);
    const int x = p.transposed_x ? it.input("x", {p.depth, p.rows}, p.x)
                                 : it.input("x", {p.rows, p.depth}, p.x);
    const int w = p.transposed_w ? it.input("w", {p.columns, p.depth}, p.w)
                                 : it.input("w", {p.depth, p.columns}, p.w);
    const int bias = it.input("bias", {p.columns}), y = it.output("y", {p.rows, p.columns});
    it.par({i, j}, [&] {
        const Id a = it.load(p.transposed_x ? it.at(x, {d, i}) : it.at(x, {i, d}));
        const Id c = it.load(p.transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        it.store(it.at(y, {i, j}),
                 it.add(it.contract(a, c, {d}, p.halves ? Factors::bf16 : Factors::f32),
                        it.load(it.at(bias, {j}))));
    });
    return it.finish();
}

/// For each batch a row of weights times a matrix, whose rows or columns lie side by side.
Kernel weighted_rows(const std::string& name, bool transposed) {
    Builder it(name);
    const AxisId batch = it.axis("batch", "b"), j = it.axis("j", "n"), d = it.axis("d", "k");
    const int x = it.input("x", {"b", "k"}), y = it.output("y", {"b", "n"});
    const int w = transposed ? it.input("w", {"b", "n", "k"}) : it.input("w", {"b", "k", "n"});
    it.each(batch, [&] {
        it.par(j, [&] {
            const Id c = it.load(transposed ? it.at(w, {batch, j, d}) : it.at(w, {batch, d, j}));
            it.store(it.at(y, {batch, j}), it.contract(it.load(it.at(x, {batch, d})), c, {d}));
        });
    });
    return it.finish();
}

/// y += x w, which is read and written.
Kernel accumulated() {
    Builder it("accumulated");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", "n"), d = it.axis("d", "k");
    const int x = it.input("x", {"m", "k"}), w = it.input("w", {"k", "n"});
    const int y = it.output("y", {"m", "n"});
    it.par({i, j}, [&] {
        it.accumulate(it.at(y, {i, j}),
                      it.contract(it.load(it.at(x, {i, d})), it.load(it.at(w, {d, j})), {d}));
    });
    return it.finish();
}

/// Tiles of 128 x 128, every way into shared memory.
std::vector<Kernel> large_products() {
    return {product({.name = "large", .columns = 520, .depth = 40}),
            product({.name = "large_t", .columns = 512, .depth = 33, .transposed_w = true}),
            product({.name = "large_halves",
                     .columns = 520,
                     .depth = 200,
                     .x = DType::bf16,
                     .w = DType::bf16,
                     .halves = true}),
            product({.name = "large_rounded",
                     .columns = 512,
                     .depth = 36,
                     .w = DType::bf16,
                     .transposed_w = true,
                     .halves = true})};
}

/// Tiles of 128 x 256, products of which overlap, of operands that cannot be copied in boxes.
std::vector<Kernel> very_large_products() {
    const auto halves = DType::bf16;
    Product given{.name = "very_large", .columns = 2052, .depth = 328, .x = halves, .w = halves};
    given.halves = true;
    Product transposed = given;
    transposed.name = "very_large_t", transposed.columns = 2048, transposed.depth = 76;
    transposed.transposed_w = true;
    Product short_one = given;
    short_one.name = "short", short_one.columns = 2052, short_one.depth = 8;
    return {product(given), product(transposed), product(short_one)};
}

/// Tiles of 64 x 64 that wgmma takes, in the layouts that the large ones have not.
std::vector<Kernel> group_products() {
    const auto halves = DType::bf16;
    Product gradient{.name = "gradient", .rows = 72, .columns = 96, .x = halves};
    gradient.transposed_x = gradient.halves = true;
    Product given{.name = "given", .columns = 64, .depth = 136, .x = halves, .w = halves};
    given.transposed_w = given.halves = true;
    Product symbolic{.name = "symbolic", .columns = 80, .w = halves, .halves = true};
    return {product(gradient), product(given), product(symbolic)};
}

/// y = x w of bfloat16, w in panels of 32 columns, in which pairs along the depth lie side by side.
Kernel product_of_pairs(const std::string& name, std::int64_t columns, std::int64_t depth) {
    Builder it(name);
    const AxisId i = it.axis("i", "m"), j = it.axis("j", columns), d = it.axis("d", depth);
    const Dim panels((columns + 31) / 32), pairs(depth / 2);
    const int x = it.input("x", {"m", depth}, DType::bf16), y = it.output("y", {"m", columns});
    const int w = it.input("w", {panels, pairs, 32, 2}, DType::bf16);
    const Access weight{.buffer = w, .strides = {{d, 64, 2}, {j, pairs * Dim(64), 32, 2}}};
    it.par({i, j}, [&] {
        it.store(it.at(y, {i, j}),
                 it.contract(it.load(it.at(x, {i, d})), it.load(weight), {d}, Factors::bf16));
    });
    return it.finish();
}

/// Runs the kernels for one architecture on two schedules against the evaluator.
void check_on(const std::string& architecture, const std::vector<Kernel>& kernels,
              const std::vector<DimValues>& sizes, double tolerance) {
    CAPTURE(architecture);
    const Emitted emitted = emit_and_parse(kernels, as_for_many_rows(architecture));
    for (std::size_t i = 0; i < kernels.size(); ++i)
        for (const DimValues& dims : sizes) {
            CAPTURE(kernels[i].name);
            CAPTURE(dims.at("m"));
            CAPTURE(dims.at("k"));
            Arrays first(kernels[i], dims, 7, 11), second(kernels[i], dims, 7, 11);
            run_ptx(emitted, i, dims, first, ptx::schedules()[1]);
            check_against_evaluator(kernels[i], dims, first, tolerance);
            run_ptx(emitted, i, dims, second, ptx::schedules()[2]);
            CHECK(same_bits(first, second));
        }
}

/// Deletes each barrier, fence and wait in turn.
void check_product_waits(const Kernel& kernel, const std::string& architecture) {
    CAPTURE(kernel.name);
    const DimValues dims{{"m", 40}, {"n", 50}, {"k", 200}, {"b", 2}};
    const Waits waits = waits_of(emit_and_parse({kernel}, as_for_many_rows(architecture)), dims,
                                 [&] { return Arrays(kernel, dims, 7, 11); });
    CHECK(waits.all > 0);
    CHECK(waits.unneeded.empty());
}

}  // namespace

TEST_CASE("contractions in PTX agree with the evaluator") {
    check_kernels(with_products(sample_contractions()), product_sizes(), 2e-6);
    check_kernels({weighted_rows("rows", false), weighted_rows("rows_t", true), accumulated(),
                   product({.name = "widened", .x = DType::bf16})},
                  product_sizes(), 2e-6);
}

TEST_CASE("contractions of bfloat16 in PTX agree with the evaluator") {
    check_kernels(with_products(sample_bfloat16_contractions()), product_sizes(), 3e-6);
    check_kernels(sample_rounded_contractions(), product_sizes(), 1. / 64);
}

TEST_CASE("contractions of float16 in PTX agree with the evaluator") {
    check_kernels(with_products(sample_float16_contractions()), product_sizes(), 3e-6);
    check_kernels(sample_contractions_to_float16(), product_sizes(), 1. / 512);
}

TEST_CASE("large tiles of float16 in PTX agree with the evaluator") {
    std::vector<Kernel> kernels = in_float16(large_products());
    const Kernel rounded = kernels.back();
    kernels.pop_back();
    const std::vector<DimValues> dims{{{"m", 130}, {"k", 70}}};
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        check_on(architecture, kernels, dims, 3e-6);
        check_on(architecture, {rounded}, dims, 1. / 512);
        check_on(architecture, in_float16(group_products()), dims, 1. / 512);
    }
}

TEST_CASE("large tiles of contractions in PTX agree with the evaluator") {
    const std::vector<Kernel> all = large_products();
    for (const Kernel& kernel : all) {
        CAPTURE(kernel.name);
        const auto plan =
            emit::nvptx::plan_contraction(kernel, {.target = target::gpu_of("sm_90")});
        CHECK(plan.tile_rows == 128);
        CHECK(plan.tile_columns == 128);
    }
    const std::vector<DimValues> dims{{{"m", 130}, {"k", 70}}};
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        check_on(architecture, {all[0], all[1], all[2]}, dims, 3e-6);
        check_on(architecture, {all[3]}, dims, 1. / 64);
    }
}

TEST_CASE("contractions in PTX exchange the pairs of prepared weights") {
    const std::vector<Kernel> kernels = {product_of_pairs("pairs_80", 80, 70),
                                         product_of_pairs("pairs_20", 20, 136),
                                         product_of_pairs("pairs_520", 520, 72)};
    for (const Kernel& kernel : kernels)
        CHECK(
            emit::nvptx::plan_contraction(kernel, {.target = target::gpu_of("sm_90")}).b.in_pairs);
    const std::vector<DimValues> sizes{{{"m", 0}, {"k", 0}}, {{"m", 33}, {"k", 0}}};
    for (const char* architecture : {"sm_80", "sm_90a"}) {
        check_on(architecture, kernels, sizes, 3e-6);
        check_product_waits(kernels[1], architecture);
        const auto complaints =
            complaints_of_ptxas(emit::emit_ptx(kernels, architecture).text, architecture);
        if (complaints) CHECK(*complaints == "");
    }
}

TEST_CASE("contractions by wgmma agree with the evaluator") {
    check_on("sm_90a", sample_rounded_contractions(), product_sizes(), 1. / 64);
    std::vector<Kernel> kernels = with_products(sample_bfloat16_contractions());
    check_on("sm_90a", kernels, product_sizes(), 3e-6);
    kernels = group_products();
    for (const Kernel& kernel : kernels)
        CHECK(emit::nvptx::plan_contraction(kernel,
                                            {.aligned = true, .target = target::gpu_of("sm_90a")})
                  .form == emit::nvptx::ContractionForm::group);
    check_on("sm_90a", kernels, product_sizes(), 1. / 64);
    kernels = very_large_products();
    for (const Kernel& kernel : kernels)
        CHECK(print(kernel, emit::nvptx::plan_contraction(
                                kernel, {.aligned = true, .target = target::gpu_of("sm_90a")}))
                  .starts_with("group, 128 x 256 x 64, 256 threads, 4 stages that overlap"));
    for (const Kernel& kernel : kernels)
        CHECK(!emit::nvptx::plan_contraction(kernel,
                                             {.aligned = true, .target = target::gpu_of("sm_90a")})
                   .copies_boxes());
    check_on("sm_90a", kernels, {{{"m", 40}, {"k", 0}}}, 3e-6);
}

TEST_CASE("how a contraction is cut is chosen from static sizes") {
    const auto plan = [](const Product& p) {
        const Kernel kernel = product(p);
        return print(kernel,
                     emit::nvptx::plan_contraction(kernel, {.target = target::gpu_of("sm_90")}));
    };
    CHECK(plan({.name = "symbolic"}) ==
          "scalar, 128 x 128 x 16, 256 threads, 4 stages; a: i, it inside, 1 at once; "
          "b: j, it inside, 1 at once");
    CHECK(plan({.name = "narrow", .columns = 20, .depth = 64}) ==
          "scalar, 64 x 32 x 16, 128 threads, 4 stages; a: i, it inside, 1 at once; "
          "b: j, it inside, 4 at once");
    CHECK(plan({.name = "halves",
                .columns = 512,
                .depth = 64,
                .x = DType::bf16,
                .transposed_w = true,
                .halves = true}) ==
          "matrix, 128 x 128 x 32, 256 threads, 4 stages; a: i, depth inside, 8 at once; "
          "b: j, depth inside, 4 at once through registers");
    const Kernel gradient = group_products()[0];
    CHECK(print(gradient, emit::nvptx::plan_contraction(
                              gradient, {.aligned = true, .target = target::gpu_of("sm_90a")})) ==
          "group, 64 x 64 x 64, 128 threads, 3 stages; a: i, it inside, 8 at once; "
          "b: j, it inside, 4 at once through registers");
    const Kernel kernel = weighted_rows("rows", false);
    CHECK(print(kernel, emit::nvptx::plan_contraction(
                            kernel, {.target = target::gpu_of("sm_90")})) == "vector");
}

TEST_CASE("what is no contraction is refused with the reason") {
    const auto reason = [](const std::function<void(Builder&, Id, AxisId)>& make) {
        Builder it("refused");
        const AxisId i = it.axis("i", "m"), d = it.axis("d", "k");
        const int x = it.input("x", {"m", "k"}), w = it.input("w", {"k"});
        it.par(i, [&] {
            make(it, it.contract(it.load(it.at(x, {i, d})), it.load(it.at(w, {d})), {d}), i);
        });
        return emit::nvptx::why_not_contraction(it.finish()).value_or("");
    };
    CHECK(reason([](Builder&, Id, AxisId) {}) == "it stores nothing");
    CHECK(reason([](Builder& it, Id sum, AxisId i) {
              it.store(it.at(it.output("y", {"m"}), {i}), sum);
          }) == "");
    CHECK(reason([](Builder& it, Id sum, AxisId i) {
              it.store(it.at(it.output("y", {1}), {-1}), it.sum(sum, {i}));
          }) == "it has a sum or maximum beside the product");
    Builder it("last_batch");
    const AxisId batch = it.axis("batch", "b"), i = it.axis("i", "m"), d = it.axis("d", "k");
    const int x = it.input("x", {"b", "m", "k"}), w = it.input("w", {"k"});
    const int y = it.output("y", {"m"});
    it.each(batch, [&] {
        it.par(i, [&] {
            const Id a = it.load(it.at(x, {batch, i, d}));
            it.store(it.at(y, {i}), it.contract(a, it.load(it.at(w, {d})), {d}));
        });
    });
    CHECK(emit::nvptx::why_not_contraction(it.finish()) ==
          "it stores values that are not one for each element of the product");
    const Kernel rows = sample_row_kernels()[0];
    CHECK(emit::nvptx::why_not_contraction(rows).has_value());
}

TEST_CASE("a row's bits of products in PTX do not depend on the rows beside it") {
    std::vector<Kernel> kernels = {
        product({.name = "floats"}),
        product({.name = "halves", .x = DType::bf16, .w = DType::bf16, .halves = true})};
    const Emitted emitted = emit_and_parse(kernels, as_for_many_rows("sm_90"));
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        DimValues dims{{"m", 70}, {"n", 40}, {"k", 70}};
        Arrays all(kernels[i], dims, 7, 5);
        run_ptx(emitted, i, dims, all);
        for (std::int64_t rows : {1, 33, 65}) {
            CAPTURE(kernels[i].name);
            CAPTURE(rows);
            dims["m"] = rows;
            Arrays some(kernels[i], dims, 7, 5);
            for (std::size_t buffer = 0; buffer < 3; ++buffer) {  // x, w and the bias
                std::copy_n(all.floats[buffer].begin(), some.floats[buffer].size(),
                            some.floats[buffer].begin());
                std::copy_n(all.halves[buffer].begin(), some.halves[buffer].size(),
                            some.halves[buffer].begin());
            }
            run_ptx(emitted, i, dims, some);
            const std::vector<float>&few = some.floats[3], &many = all.floats[3];
            CHECK(std::equal(few.begin(), few.begin() + rows * 40, many.begin()));
        }
    }
}

TEST_CASE("a contraction without one of its barriers or waits is noticed") {
    const auto halves = DType::bf16;
    check_product_waits(product({.name = "floats"}), "sm_80");
    check_product_waits(product({.name = "groups", .columns = 64}), "sm_80");
    Product pairs{.name = "halves", .columns = 64, .depth = 256, .x = halves, .w = halves};
    pairs.halves = true;
    check_product_waits(product(pairs), "sm_80");
    pairs.x = DType::f32;
    check_product_waits(product(pairs), "sm_80");
    check_product_waits(product({.name = "through_registers", .halves = true}), "sm_80");
    check_product_waits(weighted_rows("rows", false), "sm_80");
    pairs.columns = 512;
    check_product_waits(product(pairs), "sm_90a");
    pairs.x = halves, pairs.depth = 260, pairs.transposed_w = true;
    check_product_waits(product(pairs), "sm_90a");
    check_product_waits(very_large_products()[0], "sm_90a");
}

TEST_CASE("ptxas has nothing against contractions") {
    std::vector<Kernel> kernels = with_products(sample_contractions());
    for (const auto& more :
         {sample_bfloat16_contractions(), sample_rounded_contractions(), large_products()})
        for (const Kernel& kernel : with_products(more)) kernels.push_back(kernel);
    kernels.push_back(weighted_rows("rows", false));
    check_ptxas(kernels, {"sm_80", "sm_90a"});
}
