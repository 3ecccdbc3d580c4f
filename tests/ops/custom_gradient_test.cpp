// A value whose gradient is the model's own: to whom it goes, of what, and wherever it stands.
#include "codegen/ops/custom_gradient.h"

#include <fovea.h>

#include "codegen/base/error.h"
#include "codegen/pipeline.h"
#include "dsl/model_entry.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Graph optimized_gradient(const Graph& graph, bool fusion) {
    return compile_model("model", "", {},
                         {{.name = "gradient",
                           .graph = graph,
                           .gradients = Gradients::of_parameters_and_inputs,
                           .fusion = fusion}})
        .programs.at(0)
        .optimized;
}

std::string mistake_of(void (*model)(Scope)) {
    try {
        detail::graph_of(model);
    } catch (const UserError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("the gradient goes through a function of steps, fused or not") {
    Graph graph;
    const Tensor x = input(graph, "x", {4});
    output("y", custom_gradient(round(x * 2.0), {x}, [](Tensor dy) { return dy * 2.0; }));
    const Arrays arrays{{"x", {{4}, {0.3, -1.4, 2.2, 7}}}, {"y.grad", {{4}, {1, 2, 3, -4}}}};
    for (const bool fusion : {true, false}) {
        const Graph with = optimized_gradient(graph, fusion);
        check_close(run(with, arrays, "y"), {{4}, {1, -3, 4, 14}});
        check_close(run(with, arrays, "x.grad"), {{4}, {2, 4, 6, -8}});
        CHECK(count(with, Op::stop_gradient) == 0);
    }
}

TEST_CASE("what the gradient is is a function of dy and of all that the model has") {
    Graph graph;
    const Tensor x = input(graph, "x", {3}), bound = input(graph, "bound", {3});
    const Tensor y = custom_gradient(x, {x}, [&](Tensor dy) {
        return minimum(maximum(dy, -bound), bound);  // clipped
    });
    output("y", y * 10.0);
    const Arrays arrays{
        {"x", {{3}, {1, 2, 3}}}, {"bound", {{3}, {5, 100, 1}}}, {"y.grad", {{3}, {1, 1, -1}}}};
    const Graph with = optimized_gradient(graph, true);
    check_close(run(with, arrays, "x.grad"), {{3}, {5, 10, -1}});
    check_close(run(with, arrays, "bound.grad"), filled({3}, 0));
}

TEST_CASE("several operands of other shapes, and values that are no operands") {
    Graph graph;
    const Tensor x = input(graph, "x", {2, 3}), w = input(graph, "w", {3}),
                 z = input(graph, "z", {2});
    const Tensor y = custom_gradient(einsum("b i, i -> b", x, w) + z, {x, w}, [&](Tensor dy) {
        const Tensor of_x = unsqueeze(dy, 1) * w * 3.0;
        return std::array{of_x, sum(unsqueeze(dy, 1) * x, 0)};
    });
    output("y", y);
    const Arrays arrays{{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
                        {"w", {{3}, {1, 0, 2}}},
                        {"z", {{2}, {5, 6}}},
                        {"y.grad", {{2}, {1, 10}}}};
    const Graph with = optimized_gradient(graph, true);
    check_close(run(with, arrays, "y"), {{2}, {12, 22}});
    check_close(run(with, arrays, "x.grad"), {{2, 3}, {3, 0, 6, 30, 0, 60}});
    check_close(run(with, arrays, "w.grad"), {{3}, {41, 52, 63}});
    check_close(run(with, arrays, "z.grad"), filled({2}, 0));
}

TEST_CASE("in the step of a loop, and in a checkpoint") {
    Graph graph;
    const Tensor xs = input(graph, "xs", {4, 2});
    const auto step = [&](Tensor x, Tensor h) {
        const Tensor y = custom_gradient(tanh(x) * h, {x, h}, [&](Tensor dy) {
            const Tensor t = tanh(x);
            const Tensor of_x = dy * (1.0 - t * t) * h;
            return std::array{of_x, dy * t};
        });
        return Step{y, y + 0.5};
    };
    output("y", checkpoint([&](Tensor x) { return scan(x, full(graph, {2}, 0.5), step).value * x; },
                           xs));
    const Graph with = optimized_gradient(graph, true);
    const Arrays arrays{{"xs", random_array({4, 2}, 1)}, {"y.grad", random_array({4, 2}, 2)}};
    check_close(run(with, arrays, "xs.grad"),
                numeric_gradient(seal_scans(graph), {{"xs", arrays.at("xs")}}, "xs",
                                 arrays.at("y.grad"), {}),
                1e-8);
}

TEST_CASE("in a score, fused or not") {
    Graph graph;
    const Tensor q = input(graph, "q", {1, 2, 3}), k = input(graph, "k", {1, 4, 3}),
                 v = input(graph, "v", {1, 4, 2});
    const auto score = [](Pair p) {
        const Tensor product = dot(p.q, p.k);
        return custom_gradient(sin(product), {product},
                               [&](Tensor dy) { return dy * cos(product); });
    };
    output("y", attention(q, k, v, score, no_mask));
    const Arrays arrays{{"q", random_array({1, 2, 3}, 1)},
                        {"k", random_array({1, 4, 3}, 2)},
                        {"v", random_array({1, 4, 2}, 3)},
                        {"y.grad", random_array({1, 2, 2}, 4)}};
    for (const Fusion fusion : {Fusion(true, AttentionForm::fused), Fusion(false)}) {
        const Graph with = compile_model("model", "", {},
                                         {{.name = "gradient",
                                           .graph = graph,
                                           .gradients = Gradients::of_parameters_and_inputs,
                                           .fusion = fusion}})
                               .programs.at(0)
                               .optimized;
        for (const std::string name : {"q", "k"}) {
            Arrays values = arrays;
            values.erase("y.grad");
            check_close(run(with, arrays, name + ".grad"),
                        numeric_gradient(graph, values, name, arrays.at("y.grad"), {}), 1e-8);
        }
    }
}

TEST_CASE("gradients of another shape or type are refused") {
    CHECK(mistake_of([](Scope s) {
              const Tensor x = s.input("x", {"batch", 3});
              s.output("y", custom_gradient(sum(x, 1), {x}, [](Tensor dy) { return dy; }));
          })
              .find("custom_gradient: the gradient of an operand f32 [batch, 3] is f32 [batch]: "
                    "expected its shape and type") != std::string::npos);
    CHECK(mistake_of([](Scope s) {
              const Tensor ids = s.input("ids", {"batch"}, i32);
              s.output("y", custom_gradient(ids, {ids}, [](Tensor dy) { return dy; }));
          })
              .find("custom_gradient: a value i32 [batch] has no gradient: expected f32, bf16 or "
                    "f16") != std::string::npos);
}
