// Bounds that hold for all sizes, and none where i32 may run over.
#include "codegen/optimize/dim_range.h"

#include <doctest/doctest.h>

using namespace fovea;

namespace {

const Dim kSize("n");

DimRange between(const Dim& low, const Dim& high) { return {low, high}; }

bool is_known(const DimRange& range) { return range.low || range.high; }

}  // namespace

TEST_CASE("arithmetic of positions keeps its bounds while i32 holds them") {
    const DimRange positions = between(Dim(0), kSize + Dim(-1)), one = between(Dim(1), Dim(1));
    const DimRange next = range_of(Elementwise::add, positions, one);
    REQUIRE(is_known(next));
    CHECK(*next.low == Dim(1));
    CHECK(*next.high == kSize);
    const DimRange back = range_of(Elementwise::neg, positions, {});
    REQUIRE(is_known(back));
    CHECK(*back.high == Dim(0));
    CHECK(is_known(range_of_sum(between(Dim(0), Dim(1)), kSize)));
    CHECK(is_known(range_of(Elementwise::mul, between(Dim(-3), Dim(5)), between(Dim(7), Dim(9)))));
}

TEST_CASE("arithmetic that may run over has no bounds, on either side") {
    const DimRange positions = between(Dim(0), kSize + Dim(-1));
    const auto number = [](std::int64_t value) { return between(Dim(value), Dim(value)); };
    CHECK(!is_known(range_of(Elementwise::mul, positions, positions)));
    CHECK(!is_known(range_of(Elementwise::mul, positions, number(2))));
    CHECK(!is_known(range_of(Elementwise::mul, positions, between(kSize, kSize))));
    CHECK(!is_known(range_of(Elementwise::add, positions, number(2))));
    CHECK(!is_known(range_of(Elementwise::add, positions, number(INT32_MAX))));
    CHECK(!is_known(range_of(Elementwise::sub, number(-3), positions)));
    CHECK(!is_known(range_of(Elementwise::add, {Dim(0), std::nullopt}, number(1))));
    CHECK(!is_known(range_of(Elementwise::add, number(INT32_MAX), number(1))));
    CHECK(!is_known(range_of_sum(positions, kSize)));
}
