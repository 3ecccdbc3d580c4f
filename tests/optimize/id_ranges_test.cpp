// What whole numbers that a model computes lie between, for all sizes.
#include "codegen/optimize/id_ranges.h"

#include <fovea.h>

#include "codegen/graph/scan_function.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Of f of positions, 0 to below a size that is not known.
template <class F>
DimRange range_of_positions(F&& f) {
    Graph graph;
    const Tensor x = f(iota(graph, {Dim("n")}, 0));
    return *contents_of(seal_scans(graph))[std::size_t(x.id)].computed;
}

template <class F>
void check_between(std::int64_t low, std::int64_t high, F&& f) {
    const DimRange range = range_of_positions(f);
    REQUIRE(range.low);
    REQUIRE(range.high);
    CHECK(*range.low == Dim(low));
    CHECK(*range.high == Dim(high));
}

}  // namespace

TEST_CASE("clamps, minima and maxima bound what they are given") {
    check_between(-2, 3, [](Tensor x) { return clamp(x * 5 - 7, -2, 3); });
    check_between(0, 8, [](Tensor x) { return minimum(maximum(x - 4, 0), 8); });
    check_between(0, 4, [](Tensor x) { return clamp(-x, -4, 8) + 4; });
    check_between(0, 5, [](Tensor x) { return abs(clamp(x - 9, -5, 3)); });
    check_between(0, 7, [](Tensor x) { return minimum(abs(x - 2), 7); });
}

TEST_CASE("remainders are from 0 to below a positive number, of negative numbers too") {
    check_between(0, 6, [](Tensor x) { return x % 7; });
    check_between(0, 6, [](Tensor x) { return (3 - x) % 7; });
    check_between(0, 6, [](Tensor x) { return (x * x) % 7; });
    const DimRange by_size = range_of_positions([](Tensor x) { return (x * x) % (x + 1); });
    CHECK(!by_size.low);
    check_between(0, 4, [](Tensor x) { return floor_divide(minimum(x, 14), 3); });
    check_between(0, 4, [](Tensor x) { return minimum(x, 14) / 3; });
}

TEST_CASE("conditions count from 0 to 1, those that always hold for one") {
    check_between(0, 1, [](Tensor x) { return cast(x < 3, i32); });
    check_between(1, 1, [](Tensor x) { return cast(x >= 0, i32); });
    check_between(0, 0, [](Tensor x) { return cast(x < 0, i32); });
    check_between(5, 5, [](Tensor x) { return where(x >= 0, full(*x.graph, {}, 5, i32), x * x); });
}

TEST_CASE("floats bound whole numbers as far as they hold each of them") {
    const auto through = [](DType type, int most) {
        return range_of_positions(
            [&](Tensor x) { return cast(cast(minimum(x, most), type), i32); });
    };
    CHECK(through(bf16, 256).high == Dim(256));
    CHECK(!through(bf16, 257).high);
    CHECK(through(f16, 2048).high == Dim(2048));
    CHECK(!through(f16, 2049).high);
    CHECK(through(f32, 1 << 24).high == Dim(1 << 24));
    CHECK(!through(f32, (1 << 24) + 1).high);
    check_between(1, 9, [](Tensor x) { return cast(cast(minimum(x, 4), f32) * 2.0 + 1.0, i32); });
    const DimRange large = range_of_positions(
        [](Tensor x) { return cast(cast(minimum(x, 4), f32) + 16777216.0 - 16777216.0, i32); });
    CHECK(!large.high);
}

TEST_CASE("the largest of what may be no value is not bounded") {
    const auto largest = [](const Dim& count) {
        Graph graph;
        const Tensor some = cast(iota(graph, {3, count}, 1) < 2, f32);
        const Tensor x = cast(amax(some, 1), i32);
        return *contents_of(graph)[std::size_t(x.id)].computed;
    };
    CHECK(largest(Dim(4)).high == Dim(1));
    CHECK(!largest(Dim("n")).high);
}
