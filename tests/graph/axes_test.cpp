// What ops say of their axes, beside what they do; steps whose rows do without each other.
#include "codegen/graph/axes.h"

#include <doctest/doctest.h>
#include <fovea.h>

using namespace fovea;

namespace {

/// The step is traced by itself, of x [batch, 4], w [4, 4] and lens [batch].
template <class F>
std::string mixed(F&& step) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 4}), w = s.input("w", {4, 4});
    s.output("y", step(x, w));
    return why_rows_are_mixed(graph, Dim("batch").bare_symbol()).value_or("");
}

}  // namespace

TEST_CASE("axes: what is done to each row apart") {
    CHECK(mixed([](Tensor x, Tensor w) { return tanh(linear_product(x, w)) + x; }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return x - sum(x, 1, true); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return concat(slice(x, 1, 0, 2), x, 1); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return rearrange(x, "b (h d) -> b h d", {"h", 2}); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return einsum("b i, b j -> b i j", x, x); }) == "");
}

TEST_CASE("axes: what mixes rows, or moves them") {
    CHECK(mixed([](Tensor x, Tensor) { return x - sum(x, 0, true); }) == "reduce mixes them");
    CHECK(mixed([](Tensor x, Tensor w) { return w + sum(x, 0, true); }) == "reduce mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return einsum("b i, b j -> i j", x, x); }) ==
          "einsum mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return rearrange(x, "b i -> i b"); }) ==
          "a value has them in another place");
    CHECK(mixed([](Tensor x, Tensor) { return slice(x, 0, 0, 1); }) == "slice mixes them");
}
