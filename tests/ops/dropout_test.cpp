// Dropout's draws: where they come from, and that the gradient repeats them.
#include "codegen/ops/dropout.h"

#include "codegen/ops/attention/attention.h"
#include "codegen/optimize/select_mode.h"
#include "runtime/training/philox.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("row, column, site, seed and step decide") {
    Graph graph;
    graph.sites = 3;  // as if two places before it drew numbers
    output("y", random(graph, {2, 3, 5}, 0.4, 2));
    Array y = run(graph, {}, "y", {.training = true, .seed = 7, .step = 11});
    for (std::size_t row = 0; row < 6; ++row)
        for (std::size_t column = 0; column < 5; ++column) {
            bool kept = runtime::dropout_keep(7, 11, 2, unsigned(row), unsigned(column), 0.4);
            CHECK(y.values[row * 5 + column] == doctest::Approx(kept ? 1 / 0.6 : 0));
        }
    check_close(run(graph, {}), filled({2, 3, 5}, 1));
}

TEST_CASE("in evaluation factors that a model draws itself are 1") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 5});
    output("y", x * random(graph, {5}, 0.5, 0));
    const Arrays arrays = {{"x", random_array({2, 5}, 1)}};
    const auto values = [&](bool training) {
        return run(select_mode(graph, training), arrays, "y", {.training = true, .seed = 3}).values;
    };
    CHECK(values(false) == arrays.at("x").values);
    CHECK(values(true) != arrays.at("x").values);
}

TEST_CASE("those of a score are, too") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3, 4});
    output("y", attention(x, x, x,
                          [&](Pair p) { return dot_product(p) * random(*p.q.graph, {}, 0.5, 0); }));
    for (const bool training : {false, true}) {
        bool draws = false;
        for (const Node& node : select_mode(graph, training).nodes)
            draws = draws || node.op == Op::random;
        CHECK(draws == training);
    }
}

TEST_CASE("the gradient draws the same numbers") {
    Graph graph;
    Tensor x = input(graph, "x", {4, 9});
    output("y", dropout(dropout(x, 0.3) * x, 0.5));
    CHECK(graph.sites == 2);
    check_gradients(graph, {{"x", random_array({4, 9}, 18)}}, {.training = true, .seed = 3});
}
