#include "tests/kernel/small_kernels.h"

#include "codegen/kernel/builder.h"

namespace fovea::test {

using namespace kernel;

Kernel small_softmax() {
    Builder b("softmax", "y = dropout(softmax(x))", {"lesson.cpp:7"});
    const AxisId row = b.axis("row", "rows"), key = b.axis("key", "keys");
    const int x = b.input("x", {"rows", "keys"}), y = b.output("y", {"rows", "keys"});
    b.each(row, [&] {
        const Id score = b.named(b.load(b.at(x, {row, key})), "score");
        const Id e = b.map(Elementwise::exp, {b.sub(score, b.max(score, {key}))});
        const Id weight = b.div(e, b.sum(e, {key}));
        b.store(b.at(y, {row, key}), b.mul(weight, b.random(4, 0.1, {{row, 1}}, {{key, 1}})));
    });
    return b.finish();
}

Kernel small_dense() {
    Builder b("dense");
    const AxisId batch = b.axis("batch", "batch"), row = b.axis("row", "rows");
    const AxisId out = b.axis("out", 64), in = b.axis("in", 32);
    const int x = b.input("x", {"batch", "rows", 32}), w = b.input("w", {64, 32});
    const int bias = b.input("bias", {64}), y = b.output("y", {"batch", "rows", 64});
    b.each(batch, [&] {
        b.par({row, out}, [&] {
            const Id left = b.load(b.at(x, {batch, row, in}));
            const Id right = b.load(b.at(w, {out, in}));
            const Id product = b.contract(left, right, {in});
            const Id total = b.add(product, b.load(b.at(bias, {out})));
            b.store(b.at(y, {batch, row, out}), b.map(Elementwise::relu, {total}));
        });
    });
    return b.finish();
}

Kernel small_scatter() {
    Builder b("embedding_gradient");
    const AxisId row = b.axis("row", "rows"), column = b.axis("column", 32);
    const int ids = b.input("ids", {"rows"}, i32), dy = b.input("dy", {"rows", 32});
    const int table = b.output("table", {"vocab", 32});
    b.par(column, [&] {
        b.seq(row, [&] {
            const Id id = b.load(b.at(ids, {row}));
            b.accumulate(b.at_row(table, id, {column}), b.load(b.at(dy, {row, column})));
        });
    });
    return b.finish();
}

}  // namespace fovea::test
