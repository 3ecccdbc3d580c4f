// Pairs beside linear layers: their names, what is frozen, and that merged weights give the same.
#include "codegen/adapt/add_lora.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "codegen/reference/interpreter.h"
#include "dsl/fovea.h"
#include "models/registry.h"
#include "runtime/training/random_stream.h"

using namespace fovea;

namespace {

constexpr Lora kLora{.rank = 3, .alpha = 6};

Graph graph_of(const char* name) {
    const ModelEntry& entry = *models::find_model(name);
    return entry.build(entry.small_settings);
}

std::map<std::string, Node> parameters_of_graph(const Graph& graph) {
    std::map<std::string, Node> parameters;
    for (const Node& node : graph.nodes)
        if (node.op == Op::parameter) parameters.emplace(graph.path(node.scope), node);
    return parameters;
}

Array random_array(const Node& parameter, std::uint32_t stream) {
    Array array;
    for (const Dim& dim : parameter.shape) array.shape.push_back(dim.value());
    const runtime::RandomStream random(3, stream);
    for (std::int64_t i = 0; i < array.size(); ++i)
        array.values.push_back(random.normal(std::uint64_t(i)) * 0.3);
    return array;
}

using Weights = std::map<std::string, Array>;

Weights random_weights_of(const Graph& graph) {
    Weights weights;
    for (const auto& [name, node] : parameters_of_graph(graph))
        weights[name] = random_array(node, std::uint32_t(weights.size()));
    return weights;
}

std::vector<double> logits(const Graph& graph, const Weights& weights) {
    Interpreter whole(graph);
    for (const auto& [name, node] : parameters_of_graph(graph)) whole.set(name, weights.at(name));
    const Array ids{{1, 4}, {3, 1, 4, 1}};
    whole.set("ids", ids);
    whole.set("labels", ids);
    whole.set("lens", {{1}, {4}});
    return whole.output("logits").values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

}  // namespace

TEST_CASE("linear layers get a pair, heads and tables none, and pairs alone are trained") {
    for (const char* name : {"llama", "gpt2"}) {
        CAPTURE(name);
        const Graph base = graph_of(name), adapted = add_lora(base, kLora);
        std::set<std::string> layers;
        for (const auto& [parameter, node] : parameters_of_graph(adapted)) {
            const std::size_t at = parameter.find(".lora_");
            CHECK(node.frozen == (at == parameter.npos));
            if (at == parameter.npos) continue;
            layers.insert(parameter.substr(0, at));
            const bool is_first = parameter.ends_with(".lora_A.weight");
            CHECK((is_first || parameter.ends_with(".lora_B.weight")));
            CHECK(node.shape[is_first ? 0 : 1].value() == 3);
            CHECK(node.initial == (is_first ? Initial::linear_bias : Initial::zeros));
        }
        const bool is_llama = name == std::string("llama");
        CHECK(layers.contains(is_llama ? "model.layers.0.mlp.down_proj"
                                       : "transformer.h.0.attn.c_attn"));
        CHECK(layers.size() % (is_llama ? 7 : 4) == 0);
        CHECK(!layers.contains("lm_head"));
        CHECK(!layers.contains("transformer.wte"));
    }
}

TEST_CASE("pairs of zeros change nothing, and merged weights give what pairs give") {
    for (const char* name : {"llama", "gpt2", "gemma2", "phi3"}) {
        CAPTURE(name);
        const Graph base = graph_of(name), adapted = add_lora(base, kLora);
        Weights weights = random_weights_of(adapted);
        const std::vector<double> with_pairs = logits(adapted, weights);
        Interpreter merge(merge_lora(base, kLora));
        for (const auto& [parameter, array] : weights) merge.set(parameter, array);
        Weights merged = weights;
        for (auto& [parameter, array] : merged)
            if (parameter.ends_with(".weight") &&
                weights.contains(parameter.substr(0, parameter.rfind('.')) + ".lora_A.weight"))
                array = merge.output(parameter);
        CHECK(largest_difference(with_pairs, logits(base, weights)) > 1e-3);
        CHECK(largest_difference(with_pairs, logits(base, merged)) < 1e-9);
        for (auto& [parameter, array] : weights)
            if (parameter.ends_with(".lora_B.weight")) std::ranges::fill(array.values, 0.0);
        CHECK(logits(adapted, weights) == logits(base, weights));
    }
}

TEST_CASE("a model of one layer has none that takes a pair, and is told so") {
    Graph graph;
    const Scope root{&graph};
    root.output("y", linear(root / "only", root.input("x", {"batch", 4}), 3));
    CHECK(why_no_lora(graph) == "no linear layer before the last one has a weight of its own");
    CHECK(!why_no_lora(graph_of("llama")));
}
