// einsum, and products of many factors.
#include "codegen/ops/contraction.h"

#include "codegen/ops/reduction.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void check_pattern(Pattern pattern, const Extents& a, const Extents& b) {
    Graph graph;
    INFO("einsum '", pattern.text, "'");
    output("y", einsum(pattern, input(graph, "a", a), input(graph, "b", b)));
    check_gradients(graph, {{"a", random_array(a, 6)}, {"b", random_array(b, 7)}});
}

}  // namespace

TEST_CASE("a matrix product has the values known") {
    Graph graph;
    output("y", einsum("i k, k j -> i j", input(graph, "a", {2, 2}), input(graph, "b", {2, 2})));
    Arrays arrays{{"a", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{2, 2}, {5, 6, 7, 8}}}};
    check_close(run(graph, arrays), {{2, 2}, {19, 22, 43, 50}});
}

TEST_CASE("gradients of einsum in every form") {
    check_pattern("i k, k j -> i j", {3, 5}, {5, 2});
    check_pattern("b q d, b k d -> b q k", {2, 3, 5}, {2, 4, 5});
    check_pattern("b t i, o i -> b t o", {2, 1, 3}, {5, 3});
    check_pattern("i, j -> i j", {3}, {4});
    check_pattern("i, i -> ", {7}, {7});
    check_pattern("i j, i j -> j i", {2, 3}, {2, 3});
    check_pattern("i j, k -> i k", {2, 3}, {4});  // j is summed in one operand alone
    check_pattern("i k, k j -> i j", {3, 0}, {0, 2});
    check_pattern("i k, k j -> i j", {0, 3}, {3, 2});
    check_pattern("a b c, b d -> d a", {2, 3, 4}, {3, 5});
}

TEST_CASE("a sum of a broadcast product is an einsum where it has two sides") {
    const Extents shapes[][2] = {{{2, 3, 1, 5}, {2, 1, 4, 5}},
                                 {{3, 1}, {1, 4}},
                                 {{5}, {2, 3, 5}},
                                 {{1, 1}, {1, 1}},
                                 {{4, 1, 3}, {7, 3}}};
    int raised = 0;
    for (const auto& shape : shapes)
        for (int axes : {1, 2, 4, 5, 8, 12}) {
            Graph graph;
            Tensor a = input(graph, "a", shape[0]), b = input(graph, "b", shape[1]);
            Tensor product = a * b;
            if (axes >= 1 << product.rank()) continue;
            auto contracted = contract_product({a, b}, product.rank(), axes);
            if (!contracted) continue;
            ++raised;
            output("y", *contracted);
            output("z", reduce(Reduction::sum, product, axes));
            Arrays arrays{{"a", random_array(shape[0], 8)}, {"b", random_array(shape[1], 9)}};
            verify_graph(graph);
            check_close(run(graph, arrays), run(graph, arrays, "z"));
        }
    CHECK(raised >= 4);
}

TEST_CASE("products of many factors are gathered on two sides") {
    Graph graph;
    Tensor q = input(graph, "q", {3, 1, 5}), k = input(graph, "k", {1, 4, 5}),
           scale = input(graph, "s", {}), width = input(graph, "w", {5}),
           distance = input(graph, "d", {3, 4, 1});
    auto contracted = contract_product({q, k, scale, width, distance}, 3, 1 << 2);
    REQUIRE(contracted);
    output("y", *contracted);
    output("z", reduce(Reduction::sum, q * k * scale * width * distance, 1 << 2));
    Arrays arrays;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::input) continue;
        Extents shape;
        for (const Dim& dim : node.shape) shape.push_back(dim.value());
        arrays[std::string(node.name)] = random_array(shape, unsigned(arrays.size()));
    }
    check_close(run(graph, arrays), run(graph, arrays, "z"));
    CHECK(why_not_contract({q.shape(), width.shape()}, 3, 1 << 2).has_value());
    CHECK_FALSE(contract_product({q, q}, 3, 1 << 2));
}

TEST_CASE("what one factor alone has of the summed axes is summed first") {
    Graph graph;
    Tensor a = input(graph, "a", {2, 3, 1, 5}), b = input(graph, "b", {2, 3, 4, 1});
    for (const auto& factors : {std::vector{a, b}, std::vector{b, a}}) {
        const auto contracted = contract_product(factors, 4, 1 << 1 | 1 << 3);
        REQUIRE(contracted);
        output(factors[0].id == a.id ? "y" : "turned", *contracted);
    }
    output("z", reduce(Reduction::sum, a * b, 1 << 1 | 1 << 3));
    verify_graph(graph);
    const Arrays arrays = {{"a", random_array({2, 3, 1, 5}, 1)},
                           {"b", random_array({2, 3, 4, 1}, 2)}};
    check_close(run(graph, arrays), run(graph, arrays, "z"));
    check_close(run(graph, arrays, "turned"), run(graph, arrays, "z"));
}

TEST_CASE("a product of many operands is that of one after the other") {
    const auto check = [](Pattern pattern, auto f, const std::vector<Extents>& shapes) {
        INFO("einsum '", pattern.text, "'");
        Graph together, apart;
        Arrays arrays;
        for (Graph* graph : {&together, &apart}) {
            std::array<Tensor, 4> x{};
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                const char* const names[] = {"a", "b", "c", "d"};
                x[i] = input(*graph, names[i], shapes[i]);
                arrays[names[i]] = random_array(shapes[i], unsigned(i));
            }
            if (graph == &apart) output("y", f(x[0], x[1], x[2], x[3]));
            else if (shapes.size() == 1) output("y", einsum(pattern, x[0]));
            else if (shapes.size() == 3) output("y", einsum(pattern, x[0], x[1], x[2]));
            else output("y", einsum(pattern, x[0], x[1], x[2], x[3]));
        }
        check_close(run(together, arrays), run(apart, arrays));
        check_gradients(together, arrays);
    };
    using T = Tensor;
    check("i j -> j i", [](T a, T, T, T) { return rearrange(a, "i j -> j i"); }, {{2, 3}});
    check("i j k -> k", [](T a, T, T, T) { return sum(sum(a, 0), 0); }, {{2, 3, 4}});
    check("ij,jk,kl->li",
          [](T a, T b, T c, T) {
              return einsum("i k, k l -> l i", einsum("i j, j k -> i k", a, b), c);
          },
          {{2, 3}, {3, 4}, {4, 5}});
    check("a, b, c -> a b c",
          [](T a, T b, T c, T) {
              return rearrange(a, "a -> a 1 1") * rearrange(b, "b -> 1 b 1") * c;
          },
          {{2}, {3}, {4}});
    check("a b, c b, c d, d -> a",
          [](T a, T b, T c, T d) {
              Tensor of_b = einsum("c d, d -> c", c, d);
              return einsum("a b, b -> a", a, einsum("c b, c -> b", b, of_b));
          },
          {{2, 3}, {4, 3}, {4, 5}, {5}});
    check("a b, c, d -> a", [](T a, T b, T c, T) { return sum(a, 1) * sum(b, 0) * sum(c, 0); },
          {{2, 3}, {4}, {5}});
}
