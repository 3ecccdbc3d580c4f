// A copy of each attention without its values gives the weights; a loop gives those of its steps.
#include "codegen/group/tap_attention.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

bool is_attention(const Node& node) {
    return node.op == Op::attention && node.region == 0 && node.inputs[2] >= 0;
}

/// The weights of the attention `id` of the source, with a score region of their own.
Tensor weights_of(Rewrite& rewrite, int id) {
    Graph& target = rewrite.target();
    const int first = int(target.nodes.size()), outer = rewrite.source()[id].region;
    const Tensor copied = rewrite.copy(id);
    const int region = target.regions++;
    for (int added = first; added < int(target.nodes.size()); ++added)
        if (target[added].region != outer) target[added].region = region;
    Node& node = target[copied.id];
    const Node& keys = target[node.inputs[1]];
    node.inputs[2] = -1;
    node.shape = target[node.inputs[0]].shape;
    node.shape[-1] = keys.shape[-2];
    AttentionAttributes& attributes = target.attentions[std::size_t(node.attribute)];
    attributes.region = region;
    attributes.dropout = 0;
    return copied;
}

/// The output `<module>.weights` of the graph, or `<module>.weights2`, ….
class Naming {
  public:
    void add(Graph& target, const Node& attention, Tensor weights) {
        const std::string module = target.path(attention.scope);
        std::string name = (module.empty() ? "" : module + ".") + "weights";
        if (const int number = ++taken_[name]; number > 1) name += std::to_string(number);
        make(target, {.op = Op::output,
                      .dtype = weights.dtype(),
                      .shape = weights.shape(),
                      .inputs = inputs_of({weights.id}),
                      .scope = attention.scope,
                      .location = attention.location,
                      .name = intern(name)});
    }

  private:
    std::map<std::string, int> taken_;
};

/// A scan whose step gives the weights of its attentions as further results.
struct TappedScan {
    const ScanFunction* function = nullptr;
    std::vector<Node> attentions;
};

TappedScan tap_step(const ScanFunction& from) {
    ScanFunction function = from;
    TappedScan tapped;
    function.step = Rewrite::run(from.step, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = from.step[id];
        if (!is_attention(node)) return std::nullopt;
        tapped.attentions.push_back(node);
        const Tensor weights = weights_of(rewrite, id);
        make(rewrite.target(),
             output_of(rewrite.target(), weights.id, {Role::result, function.results++}));
        return rewrite.copy(id);
    });
    tapped.function = keep(std::move(function));
    return tapped;
}

/// [steps, batch, (heads,) queries, keys] → [batch, (heads,) steps · queries, keys]
Tensor queries_of_steps(Tensor weights) {
    if (weights.rank() == 4) return rearrange(weights, "t b q k -> b (t q) k");
    return rearrange(weights, "t b h q k -> b h (t q) k");
}

class Tapping {
  public:
    explicit Tapping(const Graph& graph) : graph_(graph) {}

    Graph run() {
        return Rewrite::run(graph_, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            const Node& node = graph_[id];
            if (node.op == Op::output) return Tensor{&rewrite.target(), 0};
            if (is_scan(graph_, id)) return tap_scan(rewrite, id);
            if (!is_attention(node)) return std::nullopt;
            naming_.add(rewrite.target(), node, weights_of(rewrite, id));
            return rewrite.copy(id);
        });
    }

  private:
    std::optional<Tensor> tap_scan(Rewrite& rewrite, int id) {
        const ScanAttributes& scan = scan_of(graph_, id);
        auto [at, is_first] = scans_.try_emplace({scan.function, graph_[id].inputs});
        TappedScan& tapped = at->second;
        if (is_first) tapped = tap_step(*scan.function);
        if (tapped.attentions.empty()) return std::nullopt;
        std::vector<Tensor> inputs;
        for (int i = 0; i < scan.function->inputs(); ++i)
            inputs.push_back(rewrite.mapped(graph_[id].inputs[std::size_t(i)]));
        const auto result = [&](int number) {
            return make_scan(rewrite.target(), tapped.function, scan.steps, inputs, number);
        };
        int number = scan.function->states + scan.function->results;
        for (const Node& attention : tapped.attentions) {
            if (!is_first) break;
            naming_.add(rewrite.target(), attention, queries_of_steps(result(number++)));
        }
        return result(graph_[id].axis);
    }

    const Graph& graph_;
    std::map<std::pair<const ScanFunction*, Inputs>, TappedScan> scans_;
    Naming naming_;
};

}  // namespace

bool has_attention(const Graph& graph) {
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        if (is_attention(graph[id])) return true;
        if (is_scan(graph, id) && has_attention(scan_of(graph, id).function->step)) return true;
    }
    return false;
}

Graph tap_attention(const Graph& graph) { return Tapping(graph).run(); }

}  // namespace fovea
