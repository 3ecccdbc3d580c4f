// Outputs and states where a call has more than one value, and gradients where there is none.
#include "codegen/graph/whole_model.h"
#include "tests/errors/wrong_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// A loop over the first axis, whose step calls f(value).
template <class F>
void each_step(Tensor x, const F& f) {
    scan(x, full(*x.graph, {6, 4}, 0.0), [&](Tensor value, Tensor state) {
        f(value);
        return Step{value, state};
    });
}
template <class F>
void each_pair(Tensor x, const F& f) {
    attention(x, x, x, [&](Pair p) {
        const Tensor score = dot_product(p);
        f(score);
        return score;
    });
}

const std::vector<WrongCall> kPlaces = {
    {"output z", "inside a score or the step of a loop",
     [](Given& g) { each_step(g.x, [&](Tensor v) { g.s.output("z", v); }); }},
    {"output z", "for each pair or step",  // also of what all steps share
     [](Given& g) { each_step(g.x, [&](Tensor) { g.s.output("z", g.m); }); }},
    {"output z", "name what the loop gives",
     [](Given& g) { each_pair(g.x, [&](Tensor v) { g.s.output("z", v); }); }},
    {"output z", "the step of a loop",
     [](Given& g) { each_step(g.x, [&](Tensor v) { g.s.loss("z", v); }); }},
    {"update h", "the step of a loop",
     [](Given& g) {
         each_step(g.x, [&, h = g.s.cache("h", {6, 4})](Tensor v) { g.s.update(h, v); });
     }},
    {"update h", "the step of a loop",
     [](Given& g) { each_pair(g.x, [&, h = g.s.cache("h", {})](Tensor v) { g.s.update(h, v); }); }},
    {"update of loss", "give the state another",
     [](Given& g) { g.s.update(g.s.cache("loss", {4}), g.v); }},
    {"loss loss", "another name", [](Given& g) { g.s.loss("loss", g.v); }},
    {"output of a value", "custom_gradient",
     [](Given& g) {
         g.s.output("y", custom_gradient(round(g.x), {g.x}, [&](Tensor dy) {
                        g.s.output("dy", dy * 2.0);
                        return dy;
                    }));
         verify_whole(*g.s.graph);
     }},
    {"output of a value", "custom_gradient",
     [](Given& g) {
         g.s.output("y", custom_gradient(round(g.x), {g.x}, [&](Tensor dy) {
                        g.s.update(g.s.state("seen", {4}), mean(mean(dy, 0), 0));
                        return dy;
                    }));
         verify_whole(*g.s.graph);
     }},
    {"mul of a value", "custom_gradient",
     [](Given& g) {
         Tensor kept;
         Tensor y = custom_gradient(round(g.x), {g.x}, [&](Tensor dy) { return kept = dy * 2.0; });
         g.s.output("y", y * kept);
         verify_whole(*g.s.graph);
     }},
};

}  // namespace

TEST_CASE("outputs and states that no call has are refused") {
    check_calls("wrong_places_test.cpp", kPlaces);
}

TEST_CASE("gradients of a model's own stay within their functions, one in another") {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {"batch", 4}), w = s.parameter("w", {4});
    const auto doubled = [&](Tensor dy) {
        const Tensor rounded = custom_gradient(round(dy), {dy}, [](Tensor d) { return d * 0.5; });
        return std::array{rounded * w, sum(rounded * x, 0)};
    };
    const Tensor y = custom_gradient(x * w, {x, w}, doubled);
    s.output("y", custom_gradient(y * 2.0, {y}, [](Tensor dy) { return dy; }));
    verify_whole(graph);
    CHECK(graph.errors.empty());
}
