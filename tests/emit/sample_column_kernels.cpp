#include "codegen/kernel/builder.h"
#include "tests/emit/sample_kernels.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

constexpr int kColumnBlocks = 32;  // that sums over rows are cut into

const Dim m = "m", n = "n", b = "b";

Kernel bias_gradient(const std::string& name, const Dim& columns) {
    Builder it(name);
    const AxisId batch = it.axis("batch", b), row = it.axis("row", m), j = it.axis("j", columns);
    const int dy = it.input("dy", {b, m, columns}), scale = it.input("scale", {b, m});
    const int db = it.output("db", {columns});
    it.par(j, [&] {
        const Id term =
            it.mul(it.load(it.at(dy, {batch, row, j})), it.load(it.at(scale, {batch, row})));
        it.store(it.at(db, {j}), it.mul(it.sum(term, {batch, row}), it.constant(0.5)));
    });
    return it.finish();
}

/// Points outside, two reductions of which the second needs the first, and an epilogue.
Kernel column_softmax() {
    Builder it("column_softmax");
    const AxisId batch = it.axis("batch", b), r = it.axis("r", m), j = it.axis("j", n);
    const int x = it.input("x", {b, m, n}), y = it.output("y", {b, n});
    it.each(batch, [&] {
        it.par(j, [&] {
            const Id value = it.load(it.at(x, {batch, r, j}));
            const Id largest = it.max(value, {r});
            const Id sum = it.sum(it.map(E::exp, {it.sub(value, largest)}), {r});
            it.store(it.at(y, {batch, j}), it.add(it.map(E::log, {sum}), largest));
        });
    });
    return it.finish();
}

/// A row scaled by what it sums to, and sums over rows of it before and after, by block of rows.
/// With `flat` false the rows have two axes that memory does not make one.
Kernel row_sums(const std::string& name, const Dim& columns, bool flat) {
    Builder it(name);
    const AxisId batch = it.axis("batch", b), row = it.axis("row", m), j = it.axis("j", columns);
    const AxisId blocks = it.axis("blocks", kColumnBlocks);
    const int x = it.input("x", {b, m, columns}), y = it.output("y", {b, m, columns});
    const int before = it.output("before_parts", {kColumnBlocks, columns});
    const int after = it.output("after_parts", {kColumnBlocks, columns});
    const Id value = it.load(it.at(x, {batch, row, j}));
    Id total = it.sum(value, {j});
    if (!flat) total = it.add(total, it.mul(it.index(row), it.constant(0.5)));
    const Id scaled = it.mul(value, total);
    it.store(it.at(y, {batch, row, j}), scaled);
    it.store(it.at(before, {blocks, j}), it.sum_by_block(value, {batch, row}, blocks));
    it.store(it.at(after, {blocks, j}), it.sum_by_block(scaled, {batch, row}, blocks));
    return it.finish();
}

/// Sums over rows alone: columns do without each other.
Kernel column_sums(const std::string& name, const Dim& columns) {
    Builder it(name);
    const AxisId row = it.axis("row", m), j = it.axis("j", columns);
    const AxisId blocks = it.axis("blocks", kColumnBlocks);
    const int x = it.input("x", {m, columns}), y = it.output("y", {m, columns});
    const int sums = it.output("x_parts", {kColumnBlocks, columns});
    const int squares = it.output("square_parts", {kColumnBlocks, columns});
    const Id value = it.load(it.at(x, {row, j}));
    it.store(it.at(y, {row, j}), it.map(E::relu, {value}));
    it.store(it.at(sums, {blocks, j}), it.sum_by_block(value, {row}, blocks));
    it.store(it.at(squares, {blocks, j}), it.sum_by_block(it.mul(value, value), {row}, blocks));
    return it.finish();
}

Kernel scatter(const std::string& name, const Dim& columns) {
    Builder it(name);
    const AxisId row = it.axis("row", m), j = it.axis("j", columns);
    const int ids = it.input("ids", {m}, i32), dy = it.input("dy", {m, columns});
    const int table = it.output("table", {7, columns});
    it.par(j, [&] {
        it.seq(row, [&] {
            const Id id = it.load(it.at(ids, {row}));
            it.accumulate(it.at_row(table, id, {j}), it.load(it.at(dy, {row, j})));
        });
    });
    return it.finish();
}

/// Numbers added to a table of one column.
Kernel scattered_numbers() {
    Builder it("scattered_numbers");
    const AxisId row = it.axis("row", m);
    const int ids = it.input("ids", {m}, i32), dy = it.input("dy", {m});
    const int table = it.output("table", {7});
    it.seq(row, [&] {
        const Id id = it.load(it.at(ids, {row}));
        it.accumulate(it.at_row(table, id, {}), it.load(it.at(dy, {row})));
    });
    return it.finish();
}

/// Values that change places, of a type.
Kernel transposed(const std::string& name, DType dtype) {
    Builder it(name);
    const AxisId row = it.axis("row", m), j = it.axis("j", n);
    const int x = it.input("x", {n, m}, dtype), y = it.output("y", {m, n}, dtype);
    it.par(row,
           [&] { it.each(j, [&] { it.store(it.at(y, {row, j}), it.load(it.at(x, {j, row}))); }); });
    return it.finish();
}

}  // namespace

std::vector<Kernel> sample_column_kernels() {
    return {bias_gradient("bias_gradient", n),
            bias_gradient("bias_gradient_48", 48),
            row_sums("row_sums", n, true),
            row_sums("row_sums_48", 48, true),
            row_sums("row_sums_600", 600, true),
            row_sums("row_sums_two_axes", n, false),
            column_sums("column_sums", n),
            column_sums("column_sums_64", 64),
            column_sums("column_sums_256", 256),
            column_softmax(),
            transposed("transposed", f32),
            transposed("transposed_ids", i32),
            scatter("scatter", n),
            scatter("scatter_5", 5),
            scatter("scatter_32", 32),
            scatter("scatter_48", 48),
            scatter("scatter_300", 300),
            scatter("scatter_600", 600),
            scattered_numbers()};
}

}  // namespace fovea::test
