#include "codegen/kernel/rewrites/collapse_axes.h"

#include <doctest/doctest.h>

#include "codegen/kernel/builder.h"
#include "codegen/kernel/evaluate.h"
#include "codegen/kernel/print.h"
#include "codegen/kernel/verify_kernel.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

const DimValues kAxisSizes{{"batch", 3}, {"rows", 5}, {"keys", 4}, {"vocab", 6}};

std::vector<std::vector<double>> run_collapsed(const Kernel& kernel) {
    std::vector<std::vector<double>> buffers;
    for (const Buffer& buffer : kernel.buffers) {
        std::int64_t size = 1;
        for (const Dim& dim : buffer.shape) size *= value_of(dim, kAxisSizes);
        buffers.emplace_back();
        for (std::int64_t i = 0; i < size; ++i)
            buffers.back().push_back(buffer.written ? 0 : double((i * 7 + 3) % 11) - 5);
    }
    evaluate(kernel, kAxisSizes, buffers);
    return buffers;
}

/// Collapses, checks that nothing else changed, and returns the number of pairs.
int collapsed(Kernel& kernel) {
    const auto before = run_collapsed(kernel);
    const int pairs = collapse_axes(kernel);
    CHECK_NOTHROW(verify_kernel(kernel));
    CHECK(run_collapsed(kernel) == before);
    return pairs;
}

}  // namespace

TEST_CASE("batch and rows of a dense layer become one axis") {
    Kernel kernel = small_dense();
    CHECK(collapsed(kernel) == 1);
    CHECK(kernel.axes.size() == 3);
    CHECK(kernel.axes[0].name == "batch_row");
    CHECK(text_of(kernel.axes[0].extent) == "rows*batch");
}

TEST_CASE("points around a map become one long axis") {
    Builder b("twice");
    const AxisId batch = b.axis("batch", "batch"), row = b.axis("row", "rows");
    const AxisId h = b.axis("h", 8);
    const int x = b.input("x", {"batch", "rows", 8}), y = b.output("y", {"batch", "rows", 8});
    b.each({batch, row}, [&] {
        const Id value = b.load(b.at(x, {batch, row, h}));
        b.store(b.at(y, {batch, row, h}), b.add(value, value));
    });
    Kernel kernel = b.finish();
    CHECK(collapsed(kernel) == 2);
    CHECK(kernel.axes.size() == 1);
    CHECK(text_of(kernel.axes[0].extent) == "8*rows*batch");
}

TEST_CASE("a bias keeps its axis apart, and so does an index") {
    for (const bool with_index : {false, true}) {
        Builder b("shift");
        const AxisId batch = b.axis("batch", "batch"), row = b.axis("row", "rows");
        const AxisId h = b.axis("h", 8);
        const int x = b.input("x", {"batch", "rows", 8}), bias = b.input("bias", {8});
        const int y = b.output("y", {"batch", "rows", 8});
        b.each({batch, row}, [&] {
            Id value = b.add(b.load(b.at(x, {batch, row, h})), b.load(b.at(bias, {h})));
            if (with_index) value = b.add(value, b.index(row));
            b.store(b.at(y, {batch, row, h}), value);
        });
        Kernel kernel = b.finish();
        CHECK(collapsed(kernel) == (with_index ? 0 : 1));
    }
}

TEST_CASE("reduced axes become one, but never one with an axis that is kept") {
    Builder b("bias_gradient");
    const AxisId batch = b.axis("batch", "batch"), row = b.axis("row", "rows");
    const AxisId j = b.axis("j", 8);
    const int dy = b.input("dy", {"batch", "rows", 8}), db = b.output("db", {8});
    b.par(j,
          [&] { b.store(b.at(db, {j}), b.sum(b.load(b.at(dy, {batch, row, j})), {batch, row})); });
    Kernel kernel = b.finish();
    CHECK(collapsed(kernel) == 1);
    CHECK(kernel.axes.size() == 2);
}

TEST_CASE("softmax keeps its rows") {
    Builder b("row_sum");
    const AxisId row = b.axis("row", "rows"), key = b.axis("key", "keys");
    const int x = b.input("x", {"rows", "keys"}), y = b.output("y", {"rows"});
    b.each(row, [&] { b.store(b.at(y, {row}), b.sum(b.load(b.at(x, {row, key})), {key})); });
    Kernel kernel = b.finish();
    CHECK(collapsed(kernel) == 0);
}

TEST_CASE("dropout's rows obey the same rule") {
    for (const bool counts_rows : {true, false}) {
        Builder b("dropout");
        const AxisId batch = b.axis("batch", "batch"), row = b.axis("row", "rows");
        const int x = b.input("x", {"batch", "rows"}), y = b.output("y", {"batch", "rows"});
        b.each({batch, row}, [&] {
            // Rows are counted without padding: a longer step per sequence must stay apart.
            const Dim step = counts_rows ? Dim("rows") : Dim(1000);
            b.store(b.at(y, {batch, row}), b.mul(b.load(b.at(x, {batch, row})),
                                                 b.random(0, 0.5, {{batch, step}, {row, 1}}, {})));
        });
        Kernel kernel = b.finish();
        CHECK(collapse_axes(kernel) == (counts_rows ? 1 : 0));
        CHECK_NOTHROW(verify_kernel(kernel));
    }
}
