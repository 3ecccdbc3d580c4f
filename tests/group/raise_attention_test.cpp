// Attention spelled out in plain ops is raised; what is something else stays, with a reason.
#include "codegen/group/raise_attention.h"

#include <fovea.h>

#include "codegen/group/raise_contraction.h"
#include "codegen/group/raise_softmax.h"
#include "codegen/ops/ternary.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Spelled {
    Graph graph;
    Tensor q, k, v, lens, slopes;

    Spelled() {
        q = input(graph, "q", {2, 3, 4, 5});
        k = input(graph, "k", {2, 3, 6, 5});
        v = input(graph, "v", {2, 3, 6, 7});
        lens = make(graph, {.op = Op::input, .dtype = i32, .shape = {2}, .name = "lens"});
        slopes = input(graph, "slopes", {3, 1, 1});
    }
    Tensor scores() { return einsum("b h q d, b h k d -> b h q k", q, k) / sqrt(q.dim(-1)); }
    Arrays arrays() const {
        return {{"q", random_array({2, 3, 4, 5}, 1)},
                {"k", random_array({2, 3, 6, 5}, 2)},
                {"v", random_array({2, 3, 6, 7}, 3)},
                {"lens", {{2}, {4, 0}}},
                {"slopes", random_array({3, 1, 1}, 4)}};
    }
};

Graph raise(const Graph& graph) { return raise_attention(raise_softmax(raise_contraction(graph))); }

/// What `f` builds is raised to one attention, whose values and gradients are the same.
template <class F>
Graph raised(F&& f) {
    Spelled it;
    output("y", f(it));
    Graph result = dead_code(raise(it.graph));
    verify_graph(result);
    CHECK(count(result, Op::attention) == 1);
    check_close(run(result, it.arrays()), run(it.graph, it.arrays()));
    return result;
}

Tensor number_of(Spelled& it, double value) { return full(it.graph, {1, 1, 1, 1}, value, f32); }

Tensor positions(Spelled& it, int axis) {
    Shape shape{1, 1, 1, 1};
    shape[axis] = axis == 2 ? Dim(4) : Dim(6);
    return iota(it.graph, shape, axis);
}

std::string reason(const Graph& graph) {
    Graph grouped = raise_softmax(raise_contraction(graph));
    for (int id = int(grouped.nodes.size()) - 1; id > 0; --id)
        if (grouped[id].op == Op::einsum) return why_not_attention(grouped, id).value_or("");
    return "no einsum";
}

}  // namespace

TEST_CASE("a weighted sum of values is attention") {
    raised([](Spelled& it) {
        return einsum("b h q k, b h k e -> b h q e", softmax(it.scores()), it.v);
    });
    raised([](Spelled& it) {
        return einsum("b h k e, b h q k -> b q h e", it.v, softmax(it.scores()));
    });
}

TEST_CASE("any function of products and positions is its score") {
    raised([](Spelled& it) {
        Tensor far = cast(positions(it, 3) - positions(it, 2), f32);
        Tensor scores = tanh(it.scores() / 3.0) * 3.0 + it.slopes * far;
        return einsum("b h q k, b h k e -> b h q e", softmax(scores), it.v);
    });
}

TEST_CASE("dropout of the weights is attention's") {
    Spelled it;
    const Tensor weights = softmax(it.scores());
    const Tensor kept = weights * random(it.graph, weights.shape(), 0.25, 3);
    output("y", einsum("b h q k, b h k e -> b h q e", kept, it.v));
    const Graph result = dead_code(raise(it.graph));
    REQUIRE(count(result, Op::attention) == 1);
    for (const Node& node : result.nodes)
        if (node.op == Op::attention) {
            const auto& attributes = result.attentions[std::size_t(node.attribute)];
            CHECK(attributes.dropout == 0.25);
            CHECK(attributes.site == 3);
        }
}

TEST_CASE("a factor that several weights share is none of attention's") {
    Spelled it;
    const Tensor shared = random(it.graph, {1, 1, 4, 6}, 0.25, 3);
    output("y", einsum("b h q k, b h k e -> b h q e", softmax(it.scores()) * shared, it.v));
    CHECK(count(dead_code(raise(it.graph)), Op::attention) == 0);
}

TEST_CASE("the only position of an axis is 0, to whatever it is repeated") {
    raised([](Spelled& it) {
        const Tensor first = cast(iota(it.graph, {1, 1, 1, 1}, 3), f32) + 1.0;
        return einsum("b h q k, b h k e -> b h q e", softmax(it.scores() * first), it.v);
    });
}

TEST_CASE("a score may have functions of three numbers") {
    raised([](Spelled& it) {
        const Tensor far = cast(positions(it, 3), f32);
        const Tensor turned =
            detail::ternary(Elementwise::cos_scaled, far, number_of(it, 0.5), number_of(it, -1.0));
        return einsum("b h q k, b h k e -> b h q e", softmax(it.scores() * turned), it.v);
    });
}

TEST_CASE("conditions on positions are a mask") {
    Graph graph = raised([](Spelled& it) {
        Tensor seen = positions(it, 3) <= positions(it, 2);
        Tensor inside = positions(it, 3) < place_axes(it.lens, 4, {0});
        Tensor scores = where(logical_and(seen, inside), it.scores(), -1e6);
        return einsum("b h q k, b h k e -> b h q e", softmax(scores), it.v);
    });
    for (const Node& node : graph.nodes)
        if (node.op == Op::attention) {
            const AttentionAttributes& mask = graph.attentions[std::size_t(node.attribute)];
            CHECK(mask.window == kCausal);
            CHECK(mask.has_lens);
            CHECK(!mask.has_allowed);
        }
}

TEST_CASE("distances of positions are a window") {
    Graph graph = raised([](Spelled& it) {
        Tensor back = positions(it, 2) - positions(it, 3);
        Tensor ahead = positions(it, 3) <= positions(it, 2) + 1;
        Tensor scores = where(logical_and(back < 3, ahead), it.scores(), -1e6);
        return einsum("b h q k, b h k e -> b h q e", softmax(scores), it.v);
    });
    for (const Node& node : graph.nodes)
        if (node.op == Op::attention) {
            const AttentionAttributes& mask = graph.attentions[std::size_t(node.attribute)];
            CHECK(mask.window == KeyWindow{2, 1});
            CHECK(!mask.has_allowed);
        }
}

TEST_CASE("a mask that is spread over the heads is read through that") {
    const Graph graph = raised([](Spelled& it) {
        const Tensor seen = broadcast(positions(it, 3) <= positions(it, 2), {2, 3, 4, 6});
        Tensor scores = where(seen, it.scores(), -1e6);
        return einsum("b h q k, b h k e -> b h q e", softmax(scores), it.v);
    });
    for (const Node& node : graph.nodes)
        if (node.op == Op::attention)
            CHECK(graph.attentions[std::size_t(node.attribute)].window == kCausal);
}

TEST_CASE("comparisons of positions in the mask of attention itself are its window") {
    const auto check = [](auto&& seen, const KeyWindow& window, bool leaves_tensor = false) {
        Graph graph;
        Tensor q = input(graph, "q", {2, 3, 6, 5});
        Tensor i = iota(graph, {6, 1}, 0), j = iota(graph, {1, 6}, 1);
        output("y", attention(q, q, q, dot_product, allowed(seen(i, j))));
        const Graph read = dead_code(raise_attention(graph));
        REQUIRE(count(read, Op::attention) == 1);
        for (const Node& node : read.nodes)
            if (node.op == Op::attention) {
                const AttentionAttributes& mask = read.attentions[std::size_t(node.attribute)];
                CHECK(mask.window == window);
                CHECK(mask.has_allowed == leaves_tensor);
            }
        const Arrays arrays{{"q", random_array({2, 3, 6, 5}, 1)}};
        check_close(run(read, arrays), run(graph, arrays));
    };
    check([](Tensor i, Tensor j) { return j <= i; }, kCausal);
    check([](Tensor i, Tensor j) { return logical_not(j > i); }, kCausal);
    check([](Tensor i, Tensor j) { return logical_not(i + 1 <= j); }, kCausal);
    check([](Tensor i, Tensor j) { return i - j >= 0; }, kCausal);
    check([](Tensor i, Tensor j) { return abs(i - j) < 3; }, KeyWindow{2, 2});
    check([](Tensor i, Tensor j) { return abs(j - i) <= 1; }, KeyWindow{1, 1});
    check([](Tensor i, Tensor j) { return logical_and(j <= i, i - j < 2); }, KeyWindow{1, 0});
    check([](Tensor i, Tensor j) { return logical_and(j <= i, eq(j % 2, 0)); }, kCausal, true);
    check([](Tensor i, Tensor j) { return i < j; }, KeyWindow{}, true);
    check([](Tensor i, Tensor j) { return i + j < 7; }, KeyWindow{}, true);
    check([](Tensor i, Tensor j) { return abs(i - j) > 1; }, KeyWindow{}, true);
}

TEST_CASE("weights that are read elsewhere stay") {
    Spelled it;
    Tensor weights = softmax(it.scores());
    output("weights", weights);
    output("y", einsum("b h q k, b h k e -> b h q e", weights, it.v));
    Graph result = dead_code(raise(it.graph));
    CHECK(count(result, Op::attention) == 1);
    CHECK(count(result, Op::softmax) == 1);
}

TEST_CASE("what is no attention stays, with a reason") {
    Spelled it;
    Tensor values = einsum("b h q k, b h k e -> b h q e", it.scores(), it.v);
    output("y", values);
    CHECK(reason(it.graph) == "neither operand is a softmax over the last axis");

    Spelled biased;
    Tensor bias = input(biased.graph, "bias", {2, 3, 4, 6});
    Tensor weights = softmax(biased.scores() + bias);
    output("y", einsum("b h q k, b h k e -> b h q e", weights, biased.v));
    CHECK(reason(biased.graph) == "its scores take in a tensor of their own size");

    Spelled learned;
    Tensor scores = input(learned.graph, "scores", {2, 3, 4, 6});
    output("y", einsum("b h q k, b h k e -> b h q e", softmax(scores), learned.v));
    CHECK(reason(learned.graph) == "its scores take in a tensor of their own size");
}
