// What training differentiates, and what it moves: frozen parameters, named losses.
#include <fovea.h>

#include "codegen/base/error.h"
#include "dsl/model_entry.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::vector<std::string> outputs_of(const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes)
        if (node.op == Op::output) names.emplace_back(node.name);
    return names;
}

}  // namespace

TEST_CASE("a frozen module has no gradients; what it computes passes them on") {
    Graph graph;
    const Scope s{&graph};
    const Tensor x = s.input("x", {"batch", 3});
    const Tensor h = linear(s / "first", x, 4);
    const Tensor base = linear((s / "base").frozen() / "dense", h, 2);
    s.output("loss", sum(base, 1));
    const Graph with = add_gradients(graph);
    CHECK(outputs_of(with) ==
          std::vector<std::string>{"loss", "first.weight.grad", "first.bias.grad"});
    Arrays arrays{{"x", random_array({2, 3}, 1)},
                  {"first.weight", random_array({4, 3}, 2)},
                  {"first.bias", random_array({4}, 3)},
                  {"base.dense.weight", {{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}},
                  {"base.dense.bias", random_array({2}, 4)}};
    check_close(run(with, arrays, "first.bias.grad"), {{4}, {12, 16, 20, 24}});
}

TEST_CASE("named losses of any shape are added up by their weights") {
    const Graph graph = detail::graph_of([](Scope s) {
        const Tensor x = s.input("x", {"batch", 3}), w = s.parameter("w", {3});
        s.loss("squares", x * x * w);
        s.output("w_out", w);
        s.loss("mean", mean(x * w, 1), -0.5);
        s.loss("bias", dot(w, w), 2);
    });
    CHECK(outputs_of(graph) ==
          std::vector<std::string>{"squares", "w_out", "mean", "bias", "loss"});
    const Arrays arrays{{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"w", {{3}, {1, -1, 2}}}};
    check_close(run(graph, arrays, "loss"),
                {{}, {17 - 29 + 90 - 0.5 * ((1 - 2 + 6 + 4 - 5 + 12) / 3.0) + 2 * 6}});
    check_close(run(add_gradients(graph), arrays, "w.grad"),
                {{3}, {17 - 5 / 6.0 + 4, 29 - 7 / 6.0 - 4, 45 - 1.5 + 8}});
}

TEST_CASE("one loss whose weight is 1 is its sum") {
    const Graph graph = detail::graph_of([](Scope s) { s.loss("only", s.input("x", {"batch"})); });
    check_close(run(graph, {{"x", {{3}, {1, 2, 4}}}}, "loss"), {{}, {7}});
}

TEST_CASE("losses that cannot be added up are refused") {
    const auto mistake_of = [](auto&& model) {
        try {
            detail::graph_of(model);
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string of_ids =
        mistake_of([](Scope s) { s.loss("count", s.input("ids", {"batch"}, i32)); });
    CHECK(of_ids.find("loss count: expected f32, bf16 or f16, got i32 [batch]") != of_ids.npos);
    const std::string twice = mistake_of([](Scope s) {
        const Tensor x = s.input("x", {"batch"});
        s.output("loss", x);
        s.loss("other", x);
    });
    CHECK(twice.find("two outputs are named loss") != twice.npos);
}
