// Which values of the reference are told apart though they are equal in exact arithmetic.
#include "codegen/reference/scatter_roundings.h"

#include "codegen/reference/interpreter.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Array run(Tensor (*f)(Tensor), std::vector<double> values) {
    Graph graph;
    output("y", f(input(graph, "x", {int(values.size())})));
    Interpreter interpreter(graph, {.scatters_roundings = true});
    interpreter.set("x", {{std::int64_t(values.size())}, std::move(values)});
    return interpreter.output("y");
}

}  // namespace

TEST_CASE("what is rounded is told apart by what it is made of") {
    const Array y = run([](Tensor x) { return x * 0.3 / x; }, {0.5, 1, 2, 0.5, -2, 1e-30});
    for (std::size_t i = 0; i < y.values.size(); ++i) {
        CHECK(y.values[i] == doctest::Approx(0.3).epsilon(0x1p-22));
        CHECK(y.values[i] != 0.3);
        for (std::size_t j = 0; j < i; ++j)
            CHECK((y.values[i] == y.values[j]) == (j == 0 && i == 3));
    }
}

TEST_CASE("what is exact stays") {
    const std::vector<double> x = {0.5, -1.25, 0, 7};
    CHECK(run([](Tensor v) { return maximum(-v, abs(v)); }, x).values ==
          std::vector<double>{0.5, 1.25, 0, 7});
    CHECK(run([](Tensor v) { return v * 4.0 - 3.0; }, x).values ==
          std::vector<double>{-1, -8, -3, 25});
    CHECK(run([](Tensor v) { return exp(v * 1e300 * -1e300) * 0.3; }, {1}).values ==
          std::vector<double>{0});
}

TEST_CASE("a zero is one number") {
    const Array y = run([](Tensor v) { return (v + 0.3) * 1.5; }, {0.0, -0.0});
    CHECK(y.values[0] == y.values[1]);
}
