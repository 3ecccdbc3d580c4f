// One value while a model is trained, another otherwise.
#include "codegen/ops/when_training.h"

#include "codegen/optimize/select_mode.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Graph model() {
    Graph graph;
    Tensor x = input(graph, "x", {3, 4}), y = input(graph, "y", {3, 4});
    output("y", when_training(x * y, x + x) * y);
    return graph;
}

Arrays arrays() { return {{"x", random_array({3, 4}, 1)}, {"y", random_array({3, 4}, 2)}}; }

}  // namespace

TEST_CASE("the mode chooses the value, and what its gradient reaches") {
    for (bool training : {false, true}) {
        Array expected = arrays()["x"];
        const Array y = arrays()["y"];
        for (std::size_t i = 0; i < y.values.size(); ++i)
            expected.values[i] *= (training ? y.values[i] : 2) * y.values[i];
        check_close(run(model(), arrays(), "y", {.training = training}), expected);
        check_close(run(select_mode(model(), training), arrays(), "y"), expected);
        check_gradients(model(), arrays(), {.training = training});
    }
}

TEST_CASE("a choice of a mode is no node any more") {
    for (bool training : {false, true})
        for (const Node& node : select_mode(model(), training).nodes)
            CHECK(node.op != Op::when_training);
}
