// What fold simplifies, and that values stay.
#include "codegen/optimize/fold.h"

#include <fovea.h>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Folds y = f(x) for x [2, 6], checks its values, and gives what is left.
template <class F>
Graph folded(F&& f) {
    Graph graph;
    output("y", f(input(graph, "x", {2, 6})));
    Graph simple = dead_code(fold(graph));
    verify_graph(simple);
    Arrays arrays{{"x", random_array({2, 6}, 40, 0.5, 2)}};
    check_close(run(simple, arrays), run(graph, arrays));
    return simple;
}

/// The op that makes y, and how many nodes there are besides input and output.
void check_left(const Graph& graph, int nodes) { CHECK(int(graph.nodes.size()) - 3 == nodes); }

}  // namespace

TEST_CASE("identities of arithmetic vanish") {
    check_left(folded([](Tensor x) { return x * 1.0; }), 0);
    check_left(folded([](Tensor x) { return 1.0 * x; }), 0);
    check_left(folded([](Tensor x) { return x + 0.0; }), 0);
    check_left(folded([](Tensor x) { return 0.0 + x; }), 0);
    check_left(folded([](Tensor x) { return x - 0.0; }), 0);
    check_left(folded([](Tensor x) { return x / 1.0; }), 0);
    check_left(folded([](Tensor x) { return pow(x, 1.0); }), 0);
    check_left(folded([](Tensor x) { return -(-x); }), 0);
    check_left(folded([](Tensor x) { return stop_gradient(x); }), 0);
    check_left(folded([](Tensor x) { return where(x > 0.0, x, x); }), 0);
    check_left(folded([](Tensor x) { return x * full(*x.graph, {2, 6}, 1); }), 0);
}

TEST_CASE("simpler forms") {
    check_left(folded([](Tensor x) { return x * -1.0; }), 1);
    check_left(folded([](Tensor x) { return 0.0 - x; }), 1);
    check_left(folded([](Tensor x) { return pow(x, 2.0); }), 1);
    check_left(folded([](Tensor x) { return pow(x, 0.5); }), 1);
    check_left(folded([](Tensor x) { return x + (-x * 2.0 * 3.0); }), 3);  // a constant, *, +
    check_left(folded([](Tensor x) { return x - (-x); }), 1);
    check_left(folded([](Tensor x) { return x * 2.0 * 3.0 / 4.0; }), 2);
    check_left(folded([](Tensor x) {
                   Tensor large = x > 1.0;
                   return where(large, where(large, x, 2.0), 3.0);
               }),
               4);
}

TEST_CASE("numbers that are no float32 any more stay apart") {
    check_left(folded([](Tensor x) { return x * 1e20 * 1e10; }), 2);
    check_left(folded([](Tensor x) { return x * 1e20 * 1e20; }), 4);
    check_left(folded([](Tensor x) { return x * 1e-30 * 1e-30; }), 4);
    check_left(folded([](Tensor x) { return x / 1e-20 / 1e-20; }), 4);
    check_left(folded([](Tensor x) { return x / 2e-39; }), 2);
    check_left(folded([](Tensor x) { return cast(x, f16) * 300.0 * 300.0; }), 5);
}

TEST_CASE("constants and sizes are computed") {
    Graph graph = folded([](Tensor x) { return x / sqrt(Dim(16)) + exp(full(*x.graph, {}, 0)); });
    CHECK(count(graph, Op::extent) == 0);
    CHECK(count(graph, Op::constant) == 2);
    check_left(folded([](Tensor x) { return x * (full(*x.graph, {2, 1}, 2) * 0.5); }), 0);
}

TEST_CASE("a repeated scalar stays a scalar") {
    Graph graph = folded([](Tensor x) {
        Tensor scalar = sum(sum(x, 1), 0);
        return unsqueeze(broadcast(exp(broadcast(scalar, {2})), {6, 2}), 0) * 1.0;
    });
    for (const Node& node : graph.nodes)
        if (node.op == Op::elementwise) CHECK(node.shape.rank() == 0);
    CHECK(count(graph, Op::broadcast) == 1);
}

TEST_CASE("operands are not broadcast where the op does it") {
    Graph graph = folded([](Tensor x) { return x - broadcast(sum(x, 1, true), {2, 6}); });
    CHECK(count(graph, Op::broadcast) == 0);
}

TEST_CASE("views of views") {
    check_left(folded([](Tensor x) { return squeeze(unsqueeze(x, 1), 1); }), 0);
    check_left(folded([](Tensor x) {
                   return rearrange(rearrange(x, "a (b c) -> b a c", {"b", 3}), "b a c -> a (b c)");
               }),
               0);
    check_left(folded([](Tensor x) {
                   return rearrange(rearrange(x, "a (b c) -> b a c", {"b", 3}), "b a c -> c a b");
               }),
               1);
    check_left(folded([](Tensor x) { return slice(x, 1, 0, 6); }), 0);
    check_left(folded([](Tensor x) { return reduce(Reduction::sum, unsqueeze(x, 0), 1); }), 1);
    check_left(folded([](Tensor x) { return broadcast(broadcast(x, {1, 2, 6}), {4, 2, 6}); }), 1);
}

TEST_CASE("einsum reads permuted operands as they are") {
    Graph graph = folded([](Tensor x) {
        return einsum("k i, k j -> i j", rearrange(x, "a b -> a b"), rearrange(x, "a b -> a b"));
    });
    CHECK(count(graph, Op::rearrange) == 0);
    graph = folded([](Tensor x) {
        Tensor turned = rearrange(x, "a b -> b a");
        return einsum("i k, j k -> i j", turned, turned);
    });
    CHECK(count(graph, Op::rearrange) == 0);
}
