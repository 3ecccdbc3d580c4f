// A model's own functions come before the language's of the same names and arguments.
#include "dsl/fovea.h"
#include "tests/ops/check_gradient.h"

namespace fovea::test::own {

namespace {

Tensor silu(Tensor x) { return x; }
Tensor abs(Tensor x) { return x; }
Tensor rms_norm(Scope, Tensor x) { return x; }
Tensor argmax(Tensor x, int) { return x; }

}  // namespace

TEST_CASE("a model's own functions are called") {
    Graph graph;
    Tensor x = input(graph, "x", {3});
    CHECK(silu(x).id == x.id);
    CHECK(abs(x).id == x.id);
    CHECK(rms_norm(Scope{&graph}, x).id == x.id);
    CHECK(argmax(x, 0).id == x.id);
    CHECK(fovea::silu(x).id != x.id);
}

}  // namespace fovea::test::own
