#include "codegen/kernel/builder.h"
#include "codegen/kernel/schedule.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

const Dim m = "m", n = "n", k = "k", b = "b";

/// y = x w of bfloat16, either operand transposed; the types of x, w and y.
struct Product {
    const char* name;
    bool transposed_x = false, transposed_w = false;
    Dim columns = n, depth = k;
    DType x = bf16, w = bf16, y = f32;
};

Kernel product(const Product& p) {
    Builder it(p.name);
    const AxisId i = it.axis("i", m), j = it.axis("j", p.columns), d = it.axis("d", p.depth);
    const int x =
        p.transposed_x ? it.input("x", {p.depth, m}, p.x) : it.input("x", {m, p.depth}, p.x);
    const int w = p.transposed_w ? it.input("w", {p.columns, p.depth}, p.w)
                                 : it.input("w", {p.depth, p.columns}, p.w);
    const int y = it.output("y", {m, p.columns}, p.y);
    it.par({i, j}, [&] {
        const Id a = it.load(p.transposed_x ? it.at(x, {d, i}) : it.at(x, {i, d}));
        const Id c = it.load(p.transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        it.store(it.at(y, {i, j}), it.contract(a, c, {d}, Factors::bf16));
    });
    return it.finish();
}

/// Where a weight [column of the product, step] lies as panels of pairs.
Access paired(int buffer, const Dim& columns, std::int64_t depth, AxisId column, AxisId step) {
    const int panel = panel_columns(columns, {});
    return {.buffer = buffer,
            .strides = {{step, Dim(2 * panel), 2},
                        {column, Dim((depth + 1) / 2 * 2 * panel), panel, 2}}};
}
std::vector<Dim> paired_shape(const Dim& columns, std::int64_t depth) {
    return {columns + Dim(panel_columns(columns, {})), Dim((depth + 1) / 2), 2};
}

/// A dense layer whose weight lies in pairs: bias, a residual and relu.
Kernel dense(const std::string& name, const Dim& columns, std::int64_t depth) {
    Builder it(name);
    const AxisId i = it.axis("i", m), j = it.axis("j", columns), d = it.axis("d", depth);
    const int x = it.input("x", {m, depth}, bf16);
    const int w = it.input("w", paired_shape(columns, depth), bf16);
    const int bias = it.input("bias", {columns}),
              residual = it.input("residual", {m, columns}, bf16);
    const int y = it.output("y", {m, columns});
    it.par({i, j}, [&] {
        const Id sum = it.contract(it.load(it.at(x, {i, d})),
                                   it.load(paired(w, columns, depth, j, d)), {d}, Factors::bf16);
        const Id total = it.add(sum, it.load(it.at(bias, {j})));
        it.store(it.at(y, {i, j}), it.add(it.map(E::maximum, {total, it.constant(0)}),
                                          it.load(it.at(residual, {i, j}))));
    });
    return it.finish();
}

/// The copy that makes such a weight.
Kernel pairs_of_weight(const std::string& name, const Dim& columns, std::int64_t depth) {
    Builder it(name);
    const AxisId j = it.axis("j", columns), d = it.axis("d", depth);
    const int w = it.input("w", {columns, depth});
    const int pairs = it.output("pairs", paired_shape(columns, depth), bf16);
    it.each(d, [&] { it.store(paired(pairs, columns, depth, j, d), it.load(it.at(w, {j, d}))); });
    return it.finish();
}

/// A weight gradient: contracted over batch and rows.
Kernel weight_gradient(const std::string& name, DType dy_type, DType x_type) {
    Builder it(name);
    const AxisId i = it.axis("i", n), j = it.axis("j", 80);
    const AxisId batch = it.axis("batch", b), r = it.axis("r", m);
    const int dy = it.input("dy", {b, m, n}, dy_type), x = it.input("x", {b, m, 80}, x_type);
    const int dw = it.output("dw", {n, 80});
    it.par({i, j}, [&] {
        it.store(it.at(dw, {i, j}),
                 it.contract(it.load(it.at(dy, {batch, r, i})), it.load(it.at(x, {batch, r, j})),
                             {batch, r}, Factors::bf16));
    });
    return it.finish();
}

/// One row: every panel of the weight is read once.
Kernel matrix_vector() {
    Builder it("half_matrix_vector");
    const AxisId j = it.axis("j", n), d = it.axis("d", 33);
    const int x = it.input("x", {33}, bf16), w = it.input("w", paired_shape(n, 33), bf16);
    const int y = it.output("y", {n}, bf16);
    it.par(j, [&] {
        it.store(it.at(y, {j}), it.contract(it.load(it.at(x, {d})), it.load(paired(w, n, 33, j, d)),
                                            {d}, Factors::bf16));
    });
    return it.finish();
}

}  // namespace

std::vector<Kernel> sample_bfloat16_contractions() {
    return {
        product({"half_nn"}),
        product({.name = "half_nt", .transposed_w = true}),
        product({.name = "half_tn", .transposed_x = true}),
        product({.name = "half_tt", .transposed_x = true, .transposed_w = true}),
        product({.name = "half_64", .columns = 64, .depth = 33}),
        product({.name = "half_80_t", .transposed_w = true, .columns = 80, .depth = 64, .y = bf16}),
        product({.name = "half_16", .transposed_x = true, .columns = 16, .depth = 24}),
        dense("half_dense", n, 33),
        dense("half_dense_128", 128, 24),
        dense("half_dense_20", 20, 24),
        pairs_of_weight("pairs", n, 24),
        pairs_of_weight("pairs_80", 80, 70),
        weight_gradient("half_weight_gradient", bf16, bf16),
        matrix_vector()};
}

std::vector<Kernel> sample_rounded_contractions() {
    return {product({.name = "rounded_x", .x = f32}),
            product({.name = "rounded_w", .transposed_w = true, .w = f32}),
            product({.name = "rounded_w_64", .columns = 64, .depth = 40, .w = f32}),
            product({.name = "rounded_both", .transposed_x = true, .x = f32, .w = f32}),
            weight_gradient("rounded_weight_gradient", f32, bf16)};
}

}  // namespace fovea::test
