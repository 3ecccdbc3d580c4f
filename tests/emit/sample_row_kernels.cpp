#include "codegen/kernel/builder.h"
#include "codegen/kernel/rewrites/collapse_axes.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

constexpr int kRowBlocks = 32;  // that sums over rows are cut into

const Dim m = "m", n = "n", b = "b";

Kernel softmax(const std::string& name, const Dim& keys) {
    Builder it(name, "y = softmax(where(key < lens, x, -1e6))", {"transformer.cpp:21"});
    const AxisId batch = it.axis("batch", b), row = it.axis("row", m), key = it.axis("key", keys);
    const int x = it.input("x", {b, m, keys}), lens = it.input("lens", {b}, i32);
    const int y = it.output("y", {b, m, keys});
    it.each({batch, row}, [&] {
        const Id length = it.load(it.at(lens, {batch}));
        const Id scores = it.where(it.lt(it.index(key), length),
                                   it.load(it.at(x, {batch, row, key})), it.constant(-1e6));
        const Id e = it.map(E::exp, {it.sub(scores, it.max(scores, {key}))});
        it.store(it.at(y, {batch, row, key}), it.div(e, it.sum(e, {key})));
    });
    return it.finish();
}

Kernel layer_norm(const std::string& name, const Dim& hidden) {
    Builder it(name);
    const AxisId row = it.axis("row", m), h = it.axis("hidden", hidden);
    const int x = it.input("x", {m, hidden}), gamma = it.input("gamma", {hidden});
    const int y = it.output("y", {m, hidden}), scale = it.output("scale", {m});
    it.each(row, [&] {
        const Id value = it.load(it.at(x, {row, h})), size = it.extent(hidden);
        const Id mean = it.named(it.div(it.sum(value, {h}), size), "mean");
        const Id centred = it.named(it.sub(value, mean), "centred");
        const Id variance = it.div(it.sum(it.mul(centred, centred), {h}), size);
        const Id rstd = it.map(E::rsqrt, {it.add(variance, it.constant(1e-5))});
        it.store(it.at(y, {row, h}), it.mul(it.mul(centred, rstd), it.load(it.at(gamma, {h}))));
        it.store(it.at(scale, {row}), rstd);
    });
    return it.finish();
}

/// The loss of each row and its gradient, whose sum over rows is taken in blocks.
Kernel cross_entropy(const std::string& name, const Dim& classes) {
    Builder it(name);
    const AxisId row = it.axis("row", m), c = it.axis("c", classes);
    const AxisId blocks = it.axis("blocks", kRowBlocks);
    const int x = it.input("x", {m, classes}), labels = it.input("labels", {m}, i32);
    const int dy = it.input("dy", {m}), y = it.output("y", {m}), dx = it.output("dx", {m, classes});
    const int parts = it.output("dx_parts", {kRowBlocks, classes});
    const Id value = it.load(it.at(x, {row, c})), weight = it.load(it.at(dy, {row}));
    const Id is_label = it.map(E::eq, {it.index(c), it.load(it.at(labels, {row}))});
    const Id shifted = it.sub(value, it.max(value, {c})), e = it.map(E::exp, {shifted});
    const Id total = it.sum(e, {c});
    const Id picked = it.sum(it.where(is_label, shifted, it.constant(0)), {c});
    it.store(it.at(y, {row}), it.sub(it.map(E::log, {total}), picked));
    const Id one = it.where(is_label, it.constant(1), it.constant(0));
    const Id gradient = it.mul(it.sub(it.mul(e, it.div(it.constant(1), total)), one), weight);
    it.store(it.at(dx, {row, c}), gradient);
    it.store(it.at(parts, {blocks, c}), it.sum_by_block(gradient, {row}, blocks));
    return it.finish();
}

/// Rows of 8 that lie side by side, dropped from, and numbers of rows that lie apart.
Kernel heads(const std::string& name) {
    Builder it(name);
    const Dim head_count = 3, width = 8;
    const AxisId batch = it.axis("batch", b), head = it.axis("head", head_count);
    const AxisId row = it.axis("row", m), d = it.axis("d", width);
    const int x = it.input("x", {b, m, head_count, width});
    const int scale = it.input("scale", {b, m, head_count});
    const int y = it.output("y", {b, m, head_count, width});
    const int total = it.output("total", {b, m, head_count});
    it.each({batch, head, row}, [&] {
        const Id value = it.load(it.at(x, {batch, row, head, d}));
        const Id factor = it.load(it.at(scale, {batch, row, head}));
        const Dim rows = m;
        const Id kept = it.random(3, 0.25, {{row, head_count}, {batch, rows * head_count}},
                                  {{d, 1}, {head, width}});
        const Id sum = it.sum(it.mul(it.mul(value, kept), factor), {d});
        it.store(it.at(y, {batch, row, head, d}), it.mul(value, it.add(sum, factor)));
        it.store(it.at(total, {batch, row, head}), sum);
    });
    return it.finish();
}

/// Every elementwise function of one f32, as far as it is defined there; collapsed to one axis.
Kernel all_functions() {
    Builder it("all_functions");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int x = it.input("x", {m, n}), y = it.input("y", {m, n});
    std::vector<int> outputs;
    for (const ElementwiseRow& function : kElementwise)
        outputs.push_back(it.buffer("out_" + std::string(function.name),
                                    function.gives_boolean ? DType::boolean : DType::f32, {m, n},
                                    true));
    it.each(row, [&] {
        const Id a = it.load(it.at(x, {row, h})), other = it.load(it.at(y, {row, h}));
        const Id positive = it.add(it.mul(a, a), it.constant(0.01));
        const Id below = it.lt(a, other), small = it.le(a, it.constant(0.5));
        for (const ElementwiseRow& function : kElementwise) {
            const bool logic = function.function == E::logical_not ||
                               function.function == E::logical_and ||
                               function.function == E::logical_or;
            const bool needs_positive = function.function == E::log ||
                                        function.function == E::sqrt ||
                                        function.function == E::rsqrt ||
                                        function.function == E::pow || function.function == E::div;
            std::vector<Id> operands{logic ? below : needs_positive ? positive : a};
            if (function.function == E::where) operands = {below, a};
            if (function.arity > 1)
                operands.push_back(logic ? small : needs_positive ? positive : other);
            if (function.function == E::tanh_of_exp || function.function == E::sigmoid_of_exp)
                operands = {it.map(E::exp_significand, {a}), it.map(E::exp_exponent, {other})};
            if (function.arity == 3 && function.function != E::where)
                operands = {a, other, it.mul(other, it.constant(0.5))};
            it.store(it.at(outputs[std::size_t(&function - kElementwise)], {row, h}),
                     it.map(function.function, operands));
        }
    });
    Kernel result = it.finish();
    collapse_axes(result);
    return result;
}

/// Types that meet: ids, positions, booleans and floats; a loaded mask; bfloat16 in and out.
Kernel mixed_types() {
    Builder it("mixed_types");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int ids = it.input("ids", {m, n}, i32), mask = it.input("mask", {m, n}, DType::boolean);
    const int half = it.input("half", {m, n}, bf16), lens = it.input("lens", {m}, i32);
    const int f = it.output("f", {m, n}), i = it.output("i", {m, n}, i32);
    const int t = it.output("t", {m, n}, DType::boolean), g = it.output("g", {m, n}, bf16);
    it.each(row, [&] {
        const Id id = it.load(it.at(ids, {row, h})), keep = it.load(it.at(mask, {row, h}));
        const Id wide = it.load(it.at(half, {row, h})), length = it.load(it.at(lens, {row}));
        const Id valid = it.lt(it.index(h), length);
        const Id both = it.map(E::logical_and, {keep, valid});
        const Id first = it.map(E::eq, {it.index(row), it.constant(0)});
        const Id either = it.map(E::logical_or, {both, first});
        it.store(it.at(t, {row, h}), it.map(E::logical_not, {either}));
        it.store(it.at(i, {row, h}), it.where(both, it.add(id, it.index(h)), it.constant(-1)));
        it.store(it.at(f, {row, h}), it.add(it.mul(wide, keep), it.mul(id, it.constant(0.5))));
        it.store(it.at(g, {row, h}), it.add(wide, it.extent(n)));
    });
    return it.finish();
}

/// Loads whose lane axis has stride 0, 1, another one, and an offset; a strided store.
Kernel strides() {
    Builder it("strides");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int x = it.input("x", {n, m}), bias = it.input("bias", {m});
    const int wide = it.input("wide", {m, n * 2 + 3}), y = it.output("y", {n, m});
    it.each(row, [&] {
        Access shifted = it.at(wide, {row, h});
        shifted.offset = n;
        const Id sum = it.add(it.load(it.at(x, {h, row})), it.load(shifted));
        it.store(it.at(y, {h, row}), it.mul(sum, it.load(it.at(bias, {row}))));
    });
    return it.finish();
}

/// An embedding with dropout: rows of a table, picked by ids.
Kernel embedding() {
    Builder it("embedding");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int ids = it.input("ids", {m}, i32), table = it.input("table", {7, n});
    const int y = it.output("y", {m, n});
    it.each(row, [&] {
        const Id id = it.load(it.at(ids, {row}));
        const Id value = it.mul(it.load(it.at_row(table, id, {h})), it.constant(2));
        it.store(it.at(y, {row, h}), it.mul(value, it.random(3, 0.25, {{row, 1}}, {{h, 1}})));
    });
    return it.finish();
}

/// Rows picked per lane, and dropout whose rows lie in the lanes.
Kernel picked_in_lanes() {
    Builder it("picked_in_lanes");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int ids = it.input("ids", {m, n}, i32), logits = it.input("logits", {7, n});
    const int y = it.output("y", {m, n});
    it.each(row, [&] {
        const Id id = it.load(it.at(ids, {row, h}));
        const Id value = it.load(it.at_row(logits, id, {h}));
        it.store(it.at(y, {row, h}), it.mul(value, it.random(1, 0.5, {{h, 1}}, {{row, 1}})));
    });
    return it.finish();
}

/// No tile axis at all, then a single sum over everything.
Kernel scalars() {
    Builder it("scalars");
    const AxisId row = it.axis("row", m);
    const int x = it.input("x", {m}), y = it.output("y", {m});
    it.each(row, [&] {
        const Id value = it.load(it.at(x, {row}));
        it.store(it.at(y, {row}), it.map(E::tanh, {it.add(value, it.constant(1))}));
    });
    return it.finish();
}

Kernel total() {
    Builder it("total");
    const AxisId row = it.axis("row", m), h = it.axis("h", n);
    const int x = it.input("x", {m, n}), y = it.output("y", {1});
    const Id sum = it.sum(it.load(it.at(x, {row, h})), {row, h});
    it.store(it.at(y, {-1}), it.map(E::sigmoid, {sum}));
    return it.finish();
}

/// Heads move outside: a copy; then a transposed one with points around it.
Kernel transposed(const std::string& name, const Dim& rows, const Dim& columns) {
    Builder it(name);
    const AxisId batch = it.axis("batch", b), i = it.axis("i", rows), j = it.axis("j", columns);
    const int x = it.input("x", {b, columns, rows}), y = it.output("y", {b, rows, columns});
    it.each({batch, i},
            [&] { it.store(it.at(y, {batch, i, j}), it.load(it.at(x, {batch, j, i}))); });
    return it.finish();
}

Kernel zeros() {
    Builder it("zeros");
    const AxisId i = it.axis("i", m * n);
    const int y = it.output("y", {m, n});
    Access access;
    access.buffer = y;
    access.strides = {{i, 1}};
    it.store(access, it.constant(0));
    return it.finish();
}

}  // namespace

std::vector<Kernel> sample_row_kernels() {
    return {softmax("softmax", n),
            softmax("softmax_10", 10),
            softmax("softmax_33", 33),
            layer_norm("layer_norm", n),
            layer_norm("layer_norm_32", 32),
            layer_norm("layer_norm_300", 300),
            cross_entropy("cross_entropy", n),
            cross_entropy("cross_entropy_40", 40),
            heads("heads"),
            all_functions(),
            mixed_types(),
            strides(),
            embedding(),
            picked_in_lanes(),
            scalars(),
            total(),
            transposed("transposed", m, n),
            transposed("transposed_48", 48, 20),
            zeros()};
}

}  // namespace fovea::test
