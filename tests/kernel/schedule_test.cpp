#include "codegen/kernel/schedule.h"

#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/kernel/builder.h"
#include "tests/kernel/small_kernels.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

TEST_CASE("the lanes go along the axis that is contiguous in the output") {
    const Kernel kernel = small_dense();
    CHECK(print(kernel, contraction_schedule(kernel, {})) ==
          "rows row, lanes out, tile 8 x 2 vectors");
}

TEST_CASE("a transposed output swaps the operands") {
    Builder b("transposed");
    const AxisId i = b.axis("i", 48), j = b.axis("j", "n"), k = b.axis("k", 8);
    const int x = b.input("x", {48, 8}), w = b.input("w", {"n", 8}), y = b.output("y", {"n", 48});
    b.par({i, j}, [&] {
        b.store(b.at(y, {j, i}), b.contract(b.load(b.at(x, {i, k})), b.load(b.at(w, {j, k})), {k}));
    });
    const Kernel kernel = b.finish();
    const ContractionSchedule schedule = contraction_schedule(kernel, {});
    CHECK(print(kernel, schedule) == "rows j, lanes i, tile 8 x 3 vectors");
    CHECK(as<Load>(kernel, schedule.a)->access.buffer == w);
}

TEST_CASE("an axis of rows besides those of a tile is a point") {
    Builder b("batched");
    const AxisId n = b.axis("n", "batch"), i = b.axis("i", 8), j = b.axis("j", 48);
    const AxisId k = b.axis("k", 8);
    const int x = b.input("x", {"batch", 8, 8}), w = b.input("w", {48, 8});
    const int y = b.output("y", {"batch", 8, 48});
    b.par({n, i, j}, [&] {
        const Id left = b.load(b.at(x, {n, i, k})), right = b.load(b.at(w, {j, k}));
        b.store(b.at(y, {n, i, j}), b.contract(left, right, {k}));
    });
    const Kernel kernel = b.finish();
    CHECK(print(kernel, contraction_schedule(kernel, {})) ==
          "rows i, lanes j, point n, tile 8 x 3 vectors");
}

TEST_CASE("the columns of a chunk are in as few panels as registers allow, of one width") {
    const auto tile_of = [](std::int64_t most) {
        Builder b("chunk");
        const AxisId i = b.axis("i", 480), j = b.axis("j", "chunk"), k = b.axis("k", 64);
        const int w = b.input("w", {480, 64}), x = b.input("x", {64, "chunk"});
        const int y = b.output("y", {480, "chunk"});
        b.par({i, j}, [&] {
            const Id left = b.load(b.at(w, {i, k})), right = b.load(b.at(x, {k, j}));
            b.store(b.at(y, {i, j}), b.contract(left, right, {k}));
        });
        Kernel kernel = b.finish();
        kernel.axes[std::size_t(j)].most = most;
        const ContractionSchedule schedule = contraction_schedule(kernel, {});
        // The sums, a step's columns and an element of a row.
        const int registers = (schedule.tile_rows + 1) * schedule.tile_vectors + 1;
        CHECK(registers <= 32);
        return std::pair{schedule.tile_rows, schedule.tile_vectors};
    };
    using Tile = std::pair<int, int>;
    CHECK(tile_of(0) == Tile{8, 2});
    CHECK(tile_of(64) == Tile{6, 4});
    CHECK(tile_of(80) == Tile{5, 5});
    CHECK(tile_of(96) == Tile{8, 3});
    CHECK(tile_of(112) == Tile{6, 4});
    CHECK(tile_of(128) == Tile{6, 4});
    for (std::int64_t most = 16; most <= 1024; most += 16) tile_of(most);
}

/// How a convolution of 4 channels, with so many positions and taps, is scheduled.
std::string schedule_of_convolution(std::int64_t positions, std::int64_t taps) {
    Builder b("convolution");
    const AxisId out = b.axis("out", 8), position = b.axis("position", positions);
    const AxisId channel = b.axis("channel", 4), tap = b.axis("tap", taps);
    const int x = b.input("x", {4, positions + taps - 1}), w = b.input("w", {8, 4, taps}),
              y = b.output("y", {8, positions});
    b.par({out, position}, [&] {
        Access windows = b.at(x, {channel, position});
        windows.strides.push_back({tap, 1});
        const Id left = b.load(b.at(w, {out, channel, tap}));
        b.store(b.at(y, {out, position}), b.contract(left, b.load(windows), {channel, tap}));
    });
    const Kernel kernel = b.finish();
    return print(kernel, contraction_schedule(kernel, {}));
}

TEST_CASE("windows are read in place, and few columns of them along the sum") {
    CHECK(schedule_of_convolution(20, 3) ==
          "rows out, lanes position, tile 8 x 2 vectors, windows in place");
    // The longer of two short axes lies in the lanes.
    CHECK(schedule_of_convolution(7, 3) ==
          "rows out, lanes position, tile 8 x 1 vectors, windows in place");
    CHECK(schedule_of_convolution(3, 7) ==
          "rows out, lanes position, 3 in a tile, vectors along the sum");

    Builder g("gradient");
    const AxisId row = g.axis("out", 8), column = g.axis("tap", 3), sum = g.axis("position", 20);
    const int dy = g.input("dy", {8, 20}), of_x = g.input("x", {22}), dw = g.output("dw", {8, 3});
    g.par({row, column}, [&] {
        Access windows = g.at(of_x, {sum});
        windows.strides.push_back({column, 1});
        const Id left = g.load(g.at(dy, {row, sum}));
        g.store(g.at(dw, {row, column}), g.contract(left, g.load(windows), {sum}));
    });
    const Kernel gradient = g.finish();
    CHECK(print(gradient, contraction_schedule(gradient, {})) ==
          "rows out, lanes tap, 3 in a tile, vectors along the sum");
}

TEST_CASE("what is no contraction is refused") {
    CHECK_THROWS_AS(contraction_schedule(small_softmax(), {}), InternalError);
}
