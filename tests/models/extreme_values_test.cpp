// Masks beside scores of any size, and NaN: alike in the reference and in generated code, fused and
// not.
#include <limits>

#include "tests/models/run_everywhere.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Graph masked(bool by_booleans) {
    Graph graph;
    Scope s{&graph};
    Tensor scores = s.input("scores", {3, 1, 20}), lens = s.input("lens", {3}, i32);
    Mask mask = padding(lens);
    if (by_booleans) mask = allowed(iota(graph, {3, 1, 20}, 2) < rearrange(lens, "b -> b 1 1"));
    s.output("weights", masked_softmax(scores, mask));
    Tensor q = s.input("q", {3, 1, 1}), k = s.input("k", {3, 20, 1}), v = s.input("v", {3, 20, 4});
    s.output("output", attention(q, k, v, dot_product, mask));
    return graph;
}

/// Sequence 0 sees one key, 1 sees none, 2 sees all; what is seen has scores about `low`.
Arrays masked_inputs(double low) {
    auto scores = [&](int i) { return i % 20 < 1 ? low : i / 20 == 0 ? 5.0 : low; };
    return {{"scores", array_of({3, 1, 20}, scores)},
            {"lens", array({3}, {1, 0, 20})},
            {"q", array({3, 1, 1}, {1, 1, 1})},
            {"k", array_of({3, 20, 1}, scores)},
            {"v", scattered({3, 20, 4})}};
}

}  // namespace

TEST_CASE("a key that is hidden has no part, whatever the scores that are seen") {
    for (bool by_booleans : {false, true}) {
        const Graph graph = masked(by_booleans);
        const runtime::Model& model = both_forms("low_scores", graph, false);
        for (double low : {-1e7, -1e25, -1e32, -1.5e38}) {
            CAPTURE(by_booleans);
            CAPTURE(low);
            Arrays given = masked_inputs(low);
            const Array& v = given.at("v");
            run_everywhere(model, graph, false, given, [&](Arrays& outputs, double tolerance) {
                const Array& weights = outputs.at("weights");
                for (int i = 0; i < 60; ++i) {
                    double expected = i < 20 ? double(i == 0) : 0.05;
                    CAPTURE(i);
                    CHECK(std::fabs(weights.values[std::size_t(i)] - expected) <=
                          (i < 20 ? 0 : tolerance));
                }
                for (int e = 0; e < 4; ++e) {
                    double mean[3] = {v.values[std::size_t(e)], 0, 0};
                    for (int b : {1, 2})
                        for (int key = 0; key < 20; ++key)
                            mean[b] += v.values[std::size_t((b * 20 + key) * 4 + e)] / 20;
                    for (int b = 0; b < 3; ++b)
                        CHECK(outputs.at("output").values[std::size_t(b * 4 + e)] ==
                              doctest::Approx(mean[b]).epsilon(1e-4));
                }
            });
        }
    }
}

TEST_CASE("NaN stays NaN, and so do gradients there, as in PyTorch") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {20});
    s.output("relu", relu(x));
    s.output("larger", maximum(x, 0.0));
    s.output("smaller", minimum(0.0, x));
    s.output("largest", amax(s.input("rows", {3, 20}), -1));
    Array values = scattered({20}), rows = scattered({3, 20}),
          ones = array_of({20}, [](int) { return 1.0; });
    values.values[0] = values.values[17] = rows.values[5] = rows.values[59] = kNan;
    run_everywhere("nan_everywhere", graph, false, {{"x", values}, {"rows", rows}},
                   [&](Arrays& outputs, double) {
                       for (const char* name : {"relu", "larger", "smaller"})
                           for (std::size_t i = 0; i < 20; ++i)
                               CHECK(std::isnan(outputs.at(name).values[i]) == (i == 0 || i == 17));
                       for (std::size_t i = 0; i < 3; ++i)
                           CHECK(std::isnan(outputs.at("largest").values[i]) == (i != 1));
                   });
    Graph only;
    Scope t{&only};
    t.output("y", relu(t.input("x", {20})));
    run_everywhere(
        "nan_gradient", only, true, {{"x", values}, {"y.grad", ones}},
        [&](Arrays& outputs, double) {
            for (std::size_t i = 0; i < 20; ++i)
                CHECK(outputs.at("x.grad").values[i] == double(!(values.values[i] <= 0)));
        });
}
