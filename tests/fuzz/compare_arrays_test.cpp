// What a comparison within bounds finds, and what it counts as not compared.
#include "tools/fovea/fuzz/compare_arrays.h"

#include <doctest/doctest.h>

#include <limits>

using namespace fovea;
using namespace fovea::tool::fuzz;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Compared {
    std::optional<std::string> why;
    Counts counts;
};
Compared compared(double actual, double expected, double bound) {
    Compared result;
    result.why = why_not_equal({{1}, {actual}}, {{1}, {expected}}, {{1}, {bound}}, {0x1p-24, 8},
                               result.counts);
    return result;
}

}  // namespace

TEST_CASE("values within a few bounds are equal") {
    CHECK(!compared(1.0001, 1, 1e-4).why);
    CHECK(compared(1.01, 1, 1e-4).why == "element 0 is 1.01 instead of 1 (bound 0.0008)");
    CHECK(compared(1, 1, 0).counts.elements == 1);
}

TEST_CASE("no number where there is a bound is found") {
    CHECK(compared(kNaN, 1, 1e-4).why);
    CHECK(compared(kInfinite, 1, 1e-4).why);
}

TEST_CASE("what is beyond float32 is infinite there") {
    CHECK(!compared(kInfinite, 5e38, 1e30).why);
    CHECK(!compared(-kInfinite, -5e38, 1e30).why);
    CHECK(compared(-kInfinite, 5e38, 1e30).why);
    CHECK(compared(kInfinite, 3e38, 1e30).why);
}

TEST_CASE("what has no bound is counted, and not compared") {
    for (double bound : {kInfinite, kNaN, 1e39}) {
        const Compared result = compared(kNaN, 1, bound);
        CHECK(!result.why);
        CHECK(result.counts.elements == 0);
        CHECK(result.counts.unbounded == 1);
    }
}

TEST_CASE("another number of values is found") {
    Counts counts;
    CHECK(why_not_equal({{2}, {1, 1}}, {{1}, {1}}, {{1}, {1}}, {0x1p-24, 8}, counts) ==
          "has 2 values instead of 1");
}
