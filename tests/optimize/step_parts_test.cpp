// Which values of a step its loop stores.
#include "codegen/optimize/step_parts.h"

#include <doctest/doctest.h>

#include "dsl/fovea.h"

using namespace fovea;

namespace {

/// What the loop stores besides the states, and the result of the step.
struct Stored {
    std::vector<int> nodes;
    int result;
};

template <class Result>
Stored stored(Result&& result_of) {
    ScanFunction function;
    function.sequences = function.states = function.captures = function.results = 1;
    const Scope s{&function.step};
    const Tensor x = s.input("value0", {"batch", 8}), h = s.input("state0", {"batch", 8}),
                 w = s.input("capture0", {8, 8});
    s.output("next0", tanh(x + h));
    const Tensor result = result_of(x, h, w);
    s.output("result0", result);
    return {split_step(function).stored, result.id};
}

}  // namespace

TEST_CASE("a result of one instruction is stored, a product is taken behind the loop") {
    const Stored sum = stored([](Tensor x, Tensor h, Tensor) { return h * x; });
    CHECK(sum.nodes == std::vector<int>{sum.result});
    const Stored product =
        stored([](Tensor, Tensor h, Tensor w) { return einsum("a b, b c -> a c", h, w); });
    CHECK(product.nodes.empty());
    const Stored state = stored([](Tensor, Tensor h, Tensor) { return h; });
    CHECK(state.nodes.empty());
}
