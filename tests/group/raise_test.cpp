// What is raised to einsum, softmax and masked softmax; what is not, and why.
#include <fovea.h>

#include "codegen/group/raise_contraction.h"
#include "codegen/group/raise_softmax.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// q [2, 3, 1, 5] and k [2, 1, 4, 5], and what f makes of them, raised; values must stay.
template <class F>
Graph raised_by(F&& f, Graph (*pass)(const Graph&), bool must_agree = true) {
    Graph graph;
    Tensor q = input(graph, "q", {2, 3, 1, 5}), k = input(graph, "k", {2, 1, 4, 5});
    output("y", f(q, k));
    Graph result = dead_code(pass(graph));
    verify_graph(result);
    Arrays arrays{{"q", random_array({2, 3, 1, 5}, 50)}, {"k", random_array({2, 1, 4, 5}, 51)}};
    if (must_agree) check_close(run(result, arrays), run(graph, arrays));
    check_gradients(result, arrays);
    return result;
}

std::string reason_of_pass(const Graph& graph,
                           std::optional<std::string> (*why_not)(const Graph&, int)) {
    for (int id = int(graph.nodes.size()) - 1; id > 0; --id)
        if (graph[id].op != Op::output && graph[id].op != Op::rearrange)
            return why_not(graph, id).value_or("");
    return "";
}

}  // namespace

TEST_CASE("sums of products become einsum") {
    auto check = [](auto&& f) {
        Graph graph = raised_by(f, raise_contraction);
        CHECK(count(graph, Op::einsum) == 1);
        CHECK(count(graph, Op::reduce) == 0);
    };
    check([](Tensor q, Tensor k) { return sum(q * k, -1); });
    check([](Tensor q, Tensor k) { return sum(q * k, -1, true); });
    check([](Tensor q, Tensor k) { return dot(q, k) / sqrt(q.dim(-1)); });
    check([](Tensor q, Tensor k) { return sum(q * k / sqrt(q.dim(-1)), -1); });
    check([](Tensor q, Tensor k) { return sum(-(q * 0.5 * k), -1); });
    check([](Tensor q, Tensor k) {
        return sum(broadcast(q, {2, 3, 4, 5}) * broadcast(k, {2, 3, 4, 5}), -1);
    });
    check([](Tensor q, Tensor k) { return reduce(Reduction::sum, q * k, 1 | 8); });
    check([](Tensor q, Tensor k) {
        return sum(unsqueeze(squeeze(q, 2), 2) * rearrange(squeeze(k, 1), "b k d -> b 1 k d"), -1);
    });
}

TEST_CASE("what is no contraction stays, with a reason") {
    Graph graph;
    Tensor q = input(graph, "q", {3, 1, 5}), k = input(graph, "k", {1, 4, 5});
    CHECK(why_not_contraction(graph, q.id) == "it is not a sum");
    CHECK(why_not_contraction(graph, amax(q * k, -1, true).id) == "it is not a sum");
    CHECK(why_not_contraction(graph, sum(q, -1, true).id) == "what is summed is not a product");
    CHECK(why_not_contraction(graph, sum(tanh(q + k), -1, true).id) ==
          "what is summed is not a product");
    CHECK(why_not_contraction(graph, sum(q * q, -1, true).id)->find("no two factors") == 0);
    CHECK(why_not_contraction(graph, sum(q * k * (q + k), -1, true).id)->find("a third factor") ==
          0);
    CHECK_FALSE(why_not_contraction(graph, sum(q * k, -1, true).id));
}

TEST_CASE("softmax, spelled out in several ways") {
    auto check = [](auto&& f) {
        Graph graph = raised_by(f, raise_softmax);
        CHECK(count(graph, Op::softmax) == 1);
        CHECK(count(graph, Op::reduce) == 0);
    };
    check([](Tensor q, Tensor k) {
        Tensor e = exp(q + k);
        return e / sum(e, -1, true);
    });
    check([](Tensor q, Tensor k) {
        Tensor x = q + k, e = exp(x - amax(x, 1, true));
        return e / sum(e, 1, true);
    });
    check([](Tensor q, Tensor k) {
        Tensor x = q * k, e = exp(x - stop_gradient(unsqueeze(amax(x, 3), 3)));
        return e / unsqueeze(sum(e, 3), 3);
    });
}

TEST_CASE("softmax of masked scores becomes masked softmax") {
    auto check = [](auto&& f) {
        Graph graph = raised_by(f, raise_softmax);
        CHECK(count(graph, Op::masked_softmax) == 1);
        CHECK(count(graph, Op::softmax) == 0);
    };
    auto keep = [](Tensor x) { return iota(*x.graph, {1, 1, 1, 5}, 3) < 3; };
    check([&](Tensor q, Tensor k) { return softmax(where(keep(q), q + k, -1e6)); });
    check([&](Tensor q, Tensor k) {
        Tensor e = exp(where(keep(q), q + k, -1e9));
        return e / sum(e, -1, true);
    });
    auto first = [](Tensor q, Tensor k) {
        return softmax(where(iota(*q.graph, {1, 1, 4, 1}, 2) < 3, q + k, -1e6), 2);
    };
    CHECK(count(raised_by(first, raise_softmax), Op::masked_softmax) == 0);  // not the last axis
}

TEST_CASE("of masks inside of each other, those with one number are one") {
    const auto even = [](Tensor x) { return iota(*x.graph, {1, 1, 1, 5}, 3) % 2 < 1; };
    const auto early = [](Tensor x) {
        return iota(*x.graph, {1, 1, 1, 5}, 3) < iota(*x.graph, {1, 1, 4, 1}, 2);
    };
    // The first row sees no key by both: it is uniform over all.
    const auto nested = [&](Tensor q, Tensor k) {
        return softmax(where(early(q), where(even(q), q + k, -1e9), -1e9));
    };
    CHECK(count(raised_by(nested, raise_softmax), Op::masked_softmax) == 1);
    // Keys that are hidden less are seen where all others are hidden more.
    const auto unequal = [&](Tensor q, Tensor k) {
        return softmax(where(early(q), where(even(q), q + k, -1e6), -1e9));
    };
    CHECK(count(raised_by(unequal, raise_softmax), Op::masked_softmax) == 0);
    const auto added = [&](Tensor q, Tensor k) {
        const Tensor bias = where(even(q), full(*q.graph, {1, 1, 1, 5}, 0), -1e9);
        return softmax(where(early(q), q + k + bias, -1e9));
    };
    CHECK(count(raised_by(added, raise_softmax), Op::masked_softmax) == 0);
}

TEST_CASE("a masked score of many steps, each of which reads the last one twice") {
    const auto deep = [](Tensor q, Tensor k) {
        Tensor x = q + k;
        for (int i = 0; i < 60; ++i) x = x * 0.5 + tanh(x) * 0.25;
        const Tensor keep = iota(*q.graph, {1, 1, 1, 5}, 3) < 3;
        return softmax(where(keep, where(x < -1e7, 0.0, x), -1e9));
    };
    Graph graph;
    output("y", deep(input(graph, "q", {2, 3, 1, 5}), input(graph, "k", {2, 1, 4, 5})));
    CHECK(count(raise_softmax(graph), Op::masked_softmax) == 1);
}

TEST_CASE("a sum without gradient is not softmax's") {
    const auto quotient = [](Tensor q, Tensor k) {
        const Tensor e = exp(q + k);
        return e / stop_gradient(sum(e, -1, true));
    };
    Graph graph;
    output("y", quotient(input(graph, "q", {2, 3, 1, 5}), input(graph, "k", {2, 1, 4, 5})));
    CHECK(count(raise_softmax(graph), Op::softmax) == 0);
}

TEST_CASE("what is no softmax stays, with a reason") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 5}), e = exp(x);
    CHECK(reason_of_pass(graph, why_not_softmax) == "it is not a quotient");
    CHECK(why_not_softmax(graph, (x / sum(x, 1, true)).id) == "its numerator is not an exp");
    std::string why = "its denominator is not the sum of the numerator over one axis";
    CHECK(why_not_softmax(graph, (e / reduce(Reduction::sum, e, 3)).id) == why);
    CHECK(why_not_softmax(graph, (e / sum(exp(-x), 1, true)).id) == why);
    CHECK(why_not_softmax(graph, (e / amax(e, 1, true)).id) == why);
    CHECK_FALSE(why_not_softmax(graph, (e / sum(e, 0, true)).id));
}
