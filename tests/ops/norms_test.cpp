// Norms as layers: with and without their parameters.
#include "dsl/norms.h"

#include "dsl/batch_norm.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct NormLayer {
    const char* name;
    Tensor (*build)(Scope s, Tensor x, bool weight, bool bias);
    bool has_bias = true;
};

const NormLayer kNormLayers[] = {
    {"layer_norm",
     [](Scope s, Tensor x, bool weight, bool bias) {
         return layer_norm(s, x, {.eps = 1e-2, .weight = weight, .bias = bias});
     }},
    {"rms_norm",
     [](Scope s, Tensor x, bool weight, bool) {
         return rms_norm(s, x, {.eps = 1e-2, .weight = weight});
     },
     false},
    {"group_norm",
     [](Scope s, Tensor x, bool weight, bool bias) {
         return group_norm(s, x, 2, {.eps = 1e-2, .weight = weight, .bias = bias});
     }},
    {"batch_norm",
     [](Scope s, Tensor x, bool weight, bool bias) {
         BatchNormOptions options{.eps = 1e-2, .track_running_stats = false};
         options.weight = weight, options.bias = bias;
         return batch_norm(s, x, 1, options);
     }},
};

constexpr std::int64_t kPlaces[] = {2, 4, 3};  // of which each norm has 3 or 4 parameters

Graph norm_graph(const NormLayer& layer, bool weight, bool bias) {
    Graph graph;
    Tensor x = input(graph, "x", Extents(std::begin(kPlaces), std::end(kPlaces)));
    output("y", layer.build(Scope{&graph} / "norm", x, weight, bias));
    return graph;
}

/// The same x for all; weights are ones and biases zeros, or random.
Arrays norm_arrays(const Graph& graph, bool plain) {
    Arrays arrays{{"x", random_array(Extents(std::begin(kPlaces), std::end(kPlaces)), 14, -2, 3)}};
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        const std::string name = graph.path(node.scope);
        const Extents own{node.shape[0].value()};
        const bool is_weight = name.ends_with("weight");
        arrays[name] = plain ? filled(own, is_weight ? 1 : 0) : random_array(own, 15 + is_weight);
    }
    return arrays;
}

}  // namespace

TEST_CASE("a norm without a parameter is the one with ones, or zeros") {
    for (const NormLayer& layer : kNormLayers) {
        CAPTURE(layer.name);
        const Graph whole = norm_graph(layer, true, true);
        CHECK(count(whole, Op::parameter) == 1 + layer.has_bias);
        const Array expected = run(whole, norm_arrays(whole, true));
        for (const bool weight : {false, true})
            for (const bool bias : {false, true}) {
                if (bias && !layer.has_bias) continue;
                const Graph some = norm_graph(layer, weight, bias);
                CHECK(count(some, Op::parameter) == weight + bias);
                check_close(run(some, norm_arrays(some, true)), expected);
                check_gradients(some, norm_arrays(some, false));
            }
    }
}
