#include "codegen/adapt/add_lora.h"

#include <map>
#include <vector>

#include "codegen/graph/intern.h"
#include "codegen/graph/rewrite.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// A product x Wᵀ with a parameter.
struct LinearLayer {
    int parameter = 0;
    bool in_out = false;  // the parameter is Wᵀ
};

bool is_transposed(const Graph& graph, const Node& node) {
    if (node.op != Op::rearrange || node.shape.rank() != 2) return false;
    const RearrangeAxes& axes = graph.rearranges[std::size_t(node.attribute)];
    return axes.count == 2 && axes.order[0] == 1 && axes.order[1] == 0;
}

/// Whether the axes are those of linear_product: [..., in] and [out, in] to [..., out].
bool is_linear_product(const EinsumAxes& axes) {
    const int last = axes.a.count - 1;
    if (axes.b.count != 2 || last < 0 || axes.out.count != axes.a.count) return false;
    for (int i = 0; i < last; ++i)
        if (axes.a.label[std::size_t(i)] != axes.out.label[std::size_t(i)]) return false;
    const auto in = axes.a.label[std::size_t(last)], out = axes.out.label[std::size_t(last)];
    return axes.b.label[0] == out && axes.b.label[1] == in && !axes.a.contains(out);
}

class Layers {
  public:
    explicit Layers(const Graph& graph)
        : graph_(graph), uses_(graph.nodes.size()), leads_on_(graph.nodes.size()) {
        for (const Node& node : graph.nodes)
            for (int input : node.inputs)
                if (input > 0) ++uses_[std::size_t(input)];
        for (int id = int(graph.nodes.size()) - 1; id > 0; --id) {
            const bool leads_on = leads_on_[std::size_t(id)] || has_weight(id);
            for (int input : graph[id].inputs)
                if (input > 0 && leads_on) leads_on_[std::size_t(input)] = true;
        }
        for (int id = 1; id < int(graph.nodes.size()); ++id)
            if (takes_pair(id)) layers_[id] = layer(id);
    }

    const LinearLayer* find(int id) const {
        const auto found = layers_.find(id);
        return found == layers_.end() ? nullptr : &found->second;
    }
    bool empty() const { return layers_.empty(); }

  private:
    LinearLayer layer(int id) const {
        const int weight = graph_[id].inputs[1];
        const bool in_out = is_transposed(graph_, graph_[weight]);
        return {in_out ? graph_[weight].inputs[0] : weight, in_out};
    }
    /// Whether a node is a product with a parameter of two axes.
    bool has_weight(int id) const {
        if (graph_[id].op != Op::einsum || graph_[id].region != 0) return false;
        const Node& parameter = graph_[layer(id).parameter];
        return parameter.op == Op::parameter && parameter.shape.rank() == 2;
    }
    bool takes_pair(int id) const {
        if (!has_weight(id) || !leads_on_[std::size_t(id)]) return false;
        const auto [parameter, in_out] = layer(id);
        const Node& node = graph_[id];
        const bool is_own = uses_[std::size_t(node.inputs[1])] == 1 &&
                            uses_[std::size_t(parameter)] == 1 && !graph_[parameter].state;
        return is_own && graph_[node.inputs[0]].dtype == graph_[parameter].dtype &&
               is_linear_product(graph_.einsums[std::size_t(node.attribute)]);
    }

    const Graph& graph_;
    std::vector<int> uses_;
    std::vector<bool> leads_on_;  // to another product with a parameter
    std::map<int, LinearLayer> layers_;
};

/// The matrices of a layer, in the graph that is made.
struct LoraPair {
    Tensor a, b;  // [rank, in], [out, rank]
};

LoraPair make_pair(Rewrite& rewrite, const LinearLayer& layer, const Lora& lora) {
    const Node& weight = rewrite.source()[layer.parameter];
    const Dim out = weight.shape[layer.in_out ? 1 : 0], in = weight.shape[layer.in_out ? 0 : 1];
    Graph& target = rewrite.target();
    const int module = target.scope(weight.scope).parent;
    const auto parameter = [&](const char* name, const Shape& shape, Initial initial) {
        const int scope = target.add_scope(module, name, -1, false, weight.location);
        const int leaf = target.add_scope(scope, "weight", -1, false, weight.location);
        const int id = target.add({.op = Op::parameter, .shape = shape, .initial = initial});
        Node& node = target[id];
        node.scope = leaf, node.location = weight.location, node.composite = Op::poison;
        if (initial == Initial::linear_bias) node.dim = in.without_label();
        return Tensor{&target, id};
    };
    const Dim rank = Dim(lora.rank);
    return {parameter("lora_A", {rank, in}, Initial::linear_bias),
            parameter("lora_B", {out, rank}, Initial::zeros)};
}

double scale_of(const Lora& lora) { return lora.alpha / lora.rank; }

}  // namespace

Graph add_lora(const Graph& graph, const Lora& lora) {
    const Layers layers(graph);
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (graph[id].op == Op::parameter) {
            const Tensor copied = rewrite.copy(id);
            rewrite.target()[copied.id].frozen = true;
            return copied;
        }
        const LinearLayer* layer = layers.find(id);
        if (!layer) return std::nullopt;
        const Tensor x = rewrite.mapped(graph[id].inputs[0]);
        const LoraPair pair = make_pair(rewrite, *layer, lora);
        const Tensor low = linear_product(x, pair.a) * scale_of(lora);
        return rewrite.copy(id) + linear_product(low, pair.b);
    });
}

Graph merge_lora(const Graph& graph, const Lora& lora) {
    const Layers layers(graph);
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (graph[id].op == Op::parameter) return std::nullopt;
        const Tensor nothing = {&rewrite.target(), 0};
        const LinearLayer* layer = layers.find(id);
        if (!layer) return nothing;
        const LoraPair pair = make_pair(rewrite, *layer, lora);
        const Tensor transposed = permute(pair.a, {1, 0});  // [in, rank]
        const Tensor change =
            layer->in_out ? linear_product(transposed, pair.b) : linear_product(pair.b, transposed);
        const Tensor merged = rewrite.mapped(layer->parameter) + change * scale_of(lora);
        make(rewrite.target(), {.op = Op::output,
                                .dtype = merged.dtype(),
                                .shape = merged.shape(),
                                .inputs = inputs_of({merged.id}),
                                .name = intern(graph.path(graph[layer->parameter].scope))});
        return nothing;
    });
}

std::optional<std::string> why_no_lora(const Graph& graph) {
    if (!Layers(graph).empty()) return std::nullopt;
    return "no linear layer before the last one has a weight of its own";
}

}  // namespace fovea
