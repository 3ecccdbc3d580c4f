// What leaves a loop, and the passes that tidy up behind it: values stay the same.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/scan.h"
#include "codegen/optimize/guard_ids.h"
#include "codegen/optimize/hoist_from_scans.h"
#include "codegen/optimize/merge_pads.h"
#include "codegen/optimize/sum_into_einsum.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// tanh(W x_t + U h) and, as the steps' value, V h: W leaves the loop ahead of it, V behind.
Graph recurrent() {
    Graph graph;
    Tensor x = input(graph, "x", {5, 2, 3}), start = input(graph, "start", {2, 4});
    Tensor w = input(graph, "w", {4, 3}), u = input(graph, "u", {4, 4});
    Tensor v = input(graph, "v", {6, 4});
    auto y = scan(x, start, [&](Tensor x_t, Tensor before) {
        Tensor next = tanh(linear_product(x_t, w) + linear_product(before, u));
        return Step{linear_product(next, v), next};
    });
    output("y", y.value);
    output("last", y.state);
    return seal_scans(graph);
}

Arrays recurrent_arrays() {
    return {{"x", random_array({5, 2, 3}, 1)},
            {"start", random_array({2, 4}, 2)},
            {"w", random_array({4, 3}, 3)},
            {"u", random_array({4, 4}, 4)},
            {"v", random_array({6, 4}, 5)}};
}

const Graph& step_of(const Graph& graph) {
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (is_scan(graph, id)) return scan_of(graph, id).function->step;
    throw InternalError("no loop");
}

/// [4, 6]: zeros but for `value` in the columns from `first` on.
Tensor padded(Tensor value, std::int64_t first) {
    return pad(value, 1, first, 6 - first - value.dim(1).value());
}

int count(const Graph& graph, Elementwise function) {
    int found = 0;
    for (const Node& node : graph.nodes)
        found += node.op == Op::elementwise && node.function == function;
    return found;
}

}  // namespace

TEST_CASE("hoist_from_scans: products without a state leave the loop, on either side") {
    const Graph graph = recurrent(), hoisted = hoist_from_scans(graph);
    verify_graph(hoisted);
    CHECK(count(step_of(graph), Op::einsum) == 3);
    CHECK(count(step_of(hoisted), Op::einsum) == 1);
    CHECK(count(hoisted, Op::einsum) == 2);
    for (const char* name : {"y", "last"})
        check_close(run(hoisted, recurrent_arrays(), name), run(graph, recurrent_arrays(), name));
}

TEST_CASE("hoist_from_scans: rows that a step looks up leave the loop with their product") {
    const auto looking_up = [](bool of_state) {
        Graph graph;
        Tensor ids = input(graph, "ids", {5, 2}, i32), start = input(graph, "start", {4, 3});
        Tensor table = input(graph, "table", {4, 3}), w = input(graph, "w", {3, 3});
        auto y = scan(ids, start, [&](Tensor ids_t, Tensor before) {
            Tensor rows = linear_product(gather(of_state ? before : table, ids_t), w);
            return Step{rows, before * 0.5 + sum(rows, 0, true)};
        });
        output("y", y.value);
        output("last", y.state);
        return seal_scans(graph);
    };
    const Arrays arrays = {{"ids", {{5, 2}, {3, 0, 1, 1, 2, 3, 0, 2, 1, 3}}},
                           {"start", random_array({4, 3}, 1)},
                           {"table", random_array({4, 3}, 2)},
                           {"w", random_array({3, 3}, 3)}};
    for (const bool of_state : {false, true}) {
        CAPTURE(of_state);
        const Graph graph = looking_up(of_state), hoisted = hoist_from_scans(graph);
        verify_graph(hoisted);
        CHECK(count(step_of(hoisted), Op::gather) == of_state);
        for (const char* name : {"y", "last"})
            check_close(run(hoisted, arrays, name), run(graph, arrays, name));
    }
}

TEST_CASE("guard_ids: what a step looks up is checked unless its computation keeps it in range") {
    const auto checks = [](std::int64_t more) {
        Graph graph;
        Tensor start = input(graph, "start", {2, 3}), table = input(graph, "table", {10, 3});
        Tensor ids = iota(graph, {5, 2}, 0) + more;  // up to 4 + more
        auto y = scan(ids, start, [&](Tensor ids_t, Tensor before) {
            Tensor next = before + gather(table, ids_t);
            return Step{next, next};
        });
        output("y", y.value);
        const Graph guarded = guard_ids(seal_scans(graph));
        verify_graph(guarded);
        return std::count_if(guarded.nodes.begin(), guarded.nodes.end(),
                             [](const Node& node) { return is_check(node); });
    };
    CHECK(checks(0) == 0);
    CHECK(checks(5) == 0);
    CHECK(checks(6) == 1);
    CHECK(checks(-1) == 1);
}

TEST_CASE("hoist_from_scans: the gradients of a loop's weights are products over all steps") {
    const Graph graph = add_gradients(recurrent(), {.from_loss = false, .of_inputs = true});
    const Graph hoisted = sum_into_einsum(hoist_from_scans(graph));
    verify_graph(hoisted);
    Arrays arrays = recurrent_arrays();
    arrays["y.grad"] = random_array({5, 2, 6}, 6);
    arrays["last.grad"] = random_array({2, 4}, 7);
    for (const char* name : {"x.grad", "start.grad", "w.grad", "u.grad", "v.grad"})
        check_close(run(hoisted, arrays, name), run(graph, arrays, name));
    CHECK(count(hoisted, Op::einsum) > count(graph, Op::einsum));
}

TEST_CASE("merge_pads: a sum of values beside each other is one concatenation") {
    const auto sum_of = [](std::int64_t second) {
        Graph graph;
        Tensor a = input(graph, "a", {4, 2}), b = input(graph, "b", {4, 3});
        output("y", padded(a, 0) + padded(b, second));
        return graph;
    };
    const Arrays arrays = {{"a", random_array({4, 2}, 1)}, {"b", random_array({4, 3}, 2)}};
    for (std::int64_t second : {1, 2, 3}) {
        const Graph graph = sum_of(second), merged = merge_pads(graph);
        verify_graph(merged);
        CHECK(count(merged, Elementwise::add) == (second < 2));  // they overlap
        check_close(run(merged, arrays), run(graph, arrays));
    }
}

TEST_CASE("merge_pads: a padded value that is read elsewhere stays") {
    Graph graph;
    Tensor a = padded(input(graph, "a", {4, 2}), 0), b = padded(input(graph, "b", {4, 4}), 2);
    output("y", a + b);
    output("a_alone", a);
    CHECK(count(merge_pads(graph), Elementwise::add) == 1);
}

TEST_CASE("sum_into_einsum: through a concatenation along another axis") {
    const auto sum_over = [](int axis) {
        Graph graph;
        Tensor a = input(graph, "a", {5, 2, 3}), b = input(graph, "b", {5, 2, 4});
        Tensor c = input(graph, "c", {5, 2, 6});
        Tensor both =
            concat(einsum("t b g, t b h -> t g h", a, b), einsum("t b g, t b h -> t g h", a, c), 2);
        output("y", sum(both, axis));
        return graph;
    };
    const Arrays arrays = {{"a", random_array({5, 2, 3}, 1)},
                           {"b", random_array({5, 2, 4}, 2)},
                           {"c", random_array({5, 2, 6}, 3)}};
    for (int axis : {0, 1, 2}) {
        const Graph graph = sum_over(axis), merged = sum_into_einsum(graph);
        verify_graph(merged);
        CHECK(count(merged, Op::reduce) == (axis == 0 ? 0 : 1));
        check_close(run(merged, arrays), run(graph, arrays));
    }
}
