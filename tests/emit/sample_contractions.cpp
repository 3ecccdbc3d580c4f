#include "codegen/kernel/builder.h"
#include "codegen/kernel/rewrites/collapse_axes.h"
#include "codegen/kernel/schedule.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

const Dim m = "m", n = "n", k = "k", b = "b";

/// y = x w, either operand transposed; sizes symbolic or static.
Kernel product(const std::string& name, bool transposed_x, bool transposed_w, const Dim& columns,
               const Dim& depth) {
    Builder it(name);
    const AxisId i = it.axis("i", m), j = it.axis("j", columns), d = it.axis("d", depth);
    const int x = transposed_x ? it.input("x", {depth, m}) : it.input("x", {m, depth});
    const int w = transposed_w ? it.input("w", {columns, depth}) : it.input("w", {depth, columns});
    const int y = it.output("y", {m, columns});
    it.par({i, j}, [&] {
        const Id a = it.load(transposed_x ? it.at(x, {d, i}) : it.at(x, {i, d}));
        const Id c = it.load(transposed_w ? it.at(w, {j, d}) : it.at(w, {d, j}));
        it.store(it.at(y, {i, j}), it.contract(a, c, {d}));
    });
    return it.finish();
}

/// y = x w, w in panels, as many as there are floats for; or its transpose.
Kernel product_of_panels(const std::string& name, const Dim& columns, bool transposed = false) {
    Builder it(name);
    const AxisId i = it.axis("i", m), j = it.axis("j", columns), d = it.axis("d", k);
    const int panel = panel_columns(columns, {});
    const int x = it.input("x", {m, k}), w = it.input("w", {columns + Dim(panel), k});
    const int y =
        it.output("y", transposed ? std::vector<Dim>{columns, m} : std::vector<Dim>{m, columns});
    const Access weight{.buffer = w, .strides = {{d, Dim(panel)}, {j, k * Dim(panel), panel}}};
    it.par({i, j}, [&] {
        it.store(transposed ? it.at(y, {j, i}) : it.at(y, {i, j}),
                 it.contract(it.load(it.at(x, {i, d})), it.load(weight), {d}));
    });
    return it.finish();
}

/// A dense layer over [b, m] rows: bias, residual, dropout, and the value before relu kept.
Kernel dense(const std::string& name, const Dim& columns) {
    Builder it(name, "y = x + dropout(relu(x W^T + bias))", {"transformer.cpp:40"});
    const AxisId batch = it.axis("batch", b), i = it.axis("i", m), j = it.axis("j", columns);
    const AxisId d = it.axis("d", 24);
    const int x = it.input("x", {b, m, 24}), w = it.input("w", {columns, 24});
    const int bias = it.input("bias", {columns}), scale = it.input("scale", {b, m});
    const int residual = it.input("residual", {b, m, columns});
    const int y = it.output("y", {b, m, columns}), before = it.output("before", {b, m, columns});
    it.each(batch, [&] {
        it.par({i, j}, [&] {
            const Id sum =
                it.contract(it.load(it.at(x, {batch, i, d})), it.load(it.at(w, {j, d})), {d});
            const Id total = it.named(it.add(sum, it.load(it.at(bias, {j}))), "total");
            const Id kept = it.random(2, 0.1, {{batch, m}, {i, 1}}, {{j, 1}});
            const Id factor = it.map(E::tanh, {it.load(it.at(scale, {batch, i}))});
            const Id scaled = it.mul(it.mul(it.map(E::relu, {total}), factor), kept);
            it.store(it.at(before, {batch, i, j}), total);
            it.store(it.at(y, {batch, i, j}),
                     it.add(it.load(it.at(residual, {batch, i, j})), scaled));
        });
    });
    Kernel result = it.finish();
    collapse_axes(result);
    return result;
}

/// Scores of attention with heads inside: [b, m, heads, d] x [b, n, heads, d], masked by lengths.
Kernel scores() {
    Builder it("scores");
    const AxisId batch = it.axis("batch", b), h = it.axis("h", 3), q = it.axis("q", m);
    const AxisId key = it.axis("key", n), d = it.axis("d", 8);
    const int queries = it.input("queries", {b, m, 3, 8}), keys = it.input("keys", {b, n, 3, 8});
    const int lens = it.input("lens", {b}, i32), y = it.output("y", {b, 3, m, n});
    it.each({batch, h}, [&] {
        const Id length = it.load(it.at(lens, {batch}));
        it.par({q, key}, [&] {
            const Id product = it.contract(it.load(it.at(queries, {batch, q, h, d})),
                                           it.load(it.at(keys, {batch, key, h, d})), {d});
            const Id scaled = it.mul(product, it.constant(0.35));
            it.store(it.at(y, {batch, h, q, key}),
                     it.where(it.lt(it.index(key), length), scaled, it.constant(-1e6)));
        });
    });
    return it.finish();
}

/// The weighted sum after them: the rows of the output are spread over heads.
Kernel weighted_sum() {
    Builder it("weighted_sum");
    const AxisId batch = it.axis("batch", b), h = it.axis("h", 3), q = it.axis("q", m);
    const AxisId key = it.axis("key", n), d = it.axis("d", 8);
    const int weights = it.input("weights", {b, 3, m, n}),
              values = it.input("values", {b, n, 3, 8});
    const int y = it.output("y", {b, m, 3, 8});
    it.each({batch, h}, [&] {
        it.par({q, d}, [&] {
            it.store(it.at(y, {batch, q, h, d}),
                     it.contract(it.load(it.at(weights, {batch, h, q, key})),
                                 it.load(it.at(values, {batch, key, h, d})), {key}));
        });
    });
    return it.finish();
}

/// A weight gradient: contracted over batch and rows, of which the second operand is a slice.
Kernel weight_gradient() {
    Builder it("weight_gradient");
    const AxisId batch = it.axis("batch", b), r = it.axis("r", m), i = it.axis("i", 20);
    const AxisId j = it.axis("j", n);
    const int dy = it.input("dy", {b, m, 20}), x = it.input("x", {b, m, n * 2});
    const int dw = it.output("dw", {20, n});
    it.par({i, j}, [&] {
        Access slice = it.at(x, {batch, r, j});
        slice.offset = n;
        it.store(it.at(dw, {i, j}),
                 it.contract(it.load(it.at(dy, {batch, r, i})), it.load(slice), {batch, r}));
    });
    return it.finish();
}

/// The gradient of a weight of known size.
Kernel packed_gradient() {
    Builder it("packed_gradient");
    const AxisId r = it.axis("r", m), i = it.axis("i", 530), j = it.axis("j", 256);
    const int dy = it.input("dy", {m, 530}), x = it.input("x", {m, 256});
    const int dw = it.output("dw", {530, 256});
    it.par({i, j}, [&] {
        it.store(it.at(dw, {i, j}),
                 it.contract(it.load(it.at(dy, {r, i})), it.load(it.at(x, {r, j})), {r}));
    });
    return it.finish();
}

Kernel matrix_vector() {
    Builder it("matrix_vector");
    const AxisId i = it.axis("i", m), d = it.axis("d", k);
    const int w = it.input("w", {m, k}), x = it.input("x", {k}), y = it.output("y", {m});
    it.par(i, [&] {
        it.store(it.at(y, {i}),
                 it.contract(it.load(it.at(w, {i, d})), it.load(it.at(x, {d})), {d}));
    });
    return it.finish();
}

Kernel dot() {
    Builder it("dot");
    const AxisId batch = it.axis("batch", b), d = it.axis("d", k);
    const int w = it.input("w", {b, k}), x = it.input("x", {b, k}), y = it.output("y", {b});
    it.each(batch, [&] {
        it.store(it.at(y, {batch}),
                 it.contract(it.load(it.at(w, {batch, d})), it.load(it.at(x, {batch, d})), {d}));
    });
    return it.finish();
}

/// The output transposed: the axis in the lanes is that of the first operand.
Kernel transposed_output() {
    Builder it("transposed_output");
    const AxisId i = it.axis("i", m), j = it.axis("j", n), d = it.axis("d", k);
    const int x = it.input("x", {m, k}), w = it.input("w", {n, k}), y = it.output("y", {n, m});
    it.par({i, j}, [&] {
        it.store(it.at(y, {j, i}),
                 it.contract(it.load(it.at(x, {i, d})), it.load(it.at(w, {j, d})), {d}));
    });
    return it.finish();
}

/// The gradient of a matrix, its parts: x^T y over each of 4 blocks of rows.
Kernel gradient_parts(const std::string& name, const Dim& inputs, const Dim& outputs) {
    Builder it(name);
    const AxisId blocks = it.axis("blocks", 4), i = it.axis("i", outputs), j = it.axis("j", inputs);
    const AxisId batch = it.axis("batch", b), row = it.axis("row", m);
    const int x = it.input("x", {b, m, inputs}), y = it.input("y", {b, m, outputs});
    const int parts = it.output("parts", {4, outputs, inputs});
    it.each(blocks, [&] {
        it.par({i, j}, [&] {
            const Id change = it.load(it.at(y, {batch, row, i}));
            const Id value = it.load(it.at(x, {batch, row, j}));
            it.store(it.at(parts, {blocks, i, j}),
                     it.contract_by_block(change, value, {batch, row}, blocks));
        });
    });
    Kernel result = it.finish();
    collapse_axes(result);
    return result;
}

}  // namespace

std::vector<Kernel> sample_products_by_block() {
    return {gradient_parts("gradient_parts_64", 64, 32),
            gradient_parts("gradient_parts_20", 20, 7)};
}

std::vector<Kernel> sample_packed_products() { return {packed_gradient()}; }

std::vector<Kernel> sample_contractions() {
    return {product("product_nn", false, false, n, k),
            product("product_nt", false, true, n, k),
            product("product_tn", true, false, n, k),
            product("product_tt", true, true, n, k),
            product("product_64", false, false, 64, 32),
            product("product_48", false, false, 48, k),
            product("product_80_t", false, true, 80, 20),
            product("product_8", false, false, 8, k),
            dense("dense", n),
            dense("dense_32", 32),
            scores(),
            weighted_sum(),
            weight_gradient(),
            matrix_vector(),
            dot(),
            transposed_output(),
            product_of_panels("product_of_panels", n),
            product_of_panels("product_of_panels_transposed", n, true),
            product_of_panels("product_of_panels_320", 320),
            product_of_panels("product_of_panels_320_transposed", 320, true),
            product_of_panels("product_of_panels_300", 300)};
}

}  // namespace fovea::test
