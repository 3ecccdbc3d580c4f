// Which kernels may store a buffer where one lies that they read.
#include "codegen/kernel/analysis/in_place.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;

namespace {

struct Dense {
    enum { x, w, before, y, z };
};

/// y = x w^T + before, then with `again` z = before, or before y.
Kernel dense_and_more(bool again, bool first, bool accumulates = false) {
    Builder b("dense");
    const AxisId row = b.axis("row", "rows"), out = b.axis("out", 32), in = b.axis("in", 48);
    b.input("x", {"rows", 48});
    b.input("w", {32, 48});
    b.input("before", {"rows", 32});
    b.output("y", {"rows", 32});
    b.output("z", {"rows", 32});
    b.each({row, out}, [&] {
        const Id product =
            b.contract(b.load(b.at(Dense::x, {row, in})), b.load(b.at(Dense::w, {out, in})), {in});
        const Id value = b.load(b.at(Dense::before, {row, out}));
        if (again && first) b.store(b.at(Dense::z, {row, out}), value);
        const Id total = b.add(product, value);
        if (accumulates) b.accumulate(b.at(Dense::y, {row, out}), total);
        else b.store(b.at(Dense::y, {row, out}), total);
        if (!(again && first))
            b.store(b.at(Dense::z, {row, out}),
                    again ? value : b.map(Elementwise::relu, {product}));
    });
    return b.finish();
}

}  // namespace

TEST_CASE("a product's epilogue stores in the place of what it adds") {
    CHECK(may_lie_over(dense_and_more(false, false), Dense::y, Dense::before));
    CHECK(may_lie_over(dense_and_more(true, true), Dense::y, Dense::before));
    // z is made of what lay there, and stored behind it.
    CHECK(!may_lie_over(dense_and_more(true, false), Dense::y, Dense::before));
    CHECK(may_lie_over(dense_and_more(true, false), Dense::z, Dense::before));
    CHECK(!may_lie_over(dense_and_more(false, false, true), Dense::y, Dense::before));
    // Operands are read for many elements.
    CHECK(!may_lie_over(dense_and_more(false, false), Dense::y, Dense::x));
    CHECK(!may_lie_over(dense_and_more(false, false), Dense::y, Dense::w));
}

TEST_CASE("rows that are read for sums, and other elements, keep their place") {
    CHECK(!may_lie_over(test::small_softmax(), 1, 0));
    Builder b("reversed");
    const AxisId i = b.axis("i", 4), j = b.axis("j", 4);
    const int from = b.input("x", {4, 4}), to = b.output("y", {4, 4});
    b.each({i}, [&] { b.store(b.at(to, {i, j}), b.load(b.at(from, {j, i}))); });
    CHECK(!may_lie_over(b.finish(), to, from));
}
