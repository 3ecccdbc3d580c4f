// The value with no gradient through it, or with one of the model's own.
#include "codegen/ops/custom_gradient.h"

#include <vector>

#include "codegen/graph/op_def.h"
#include "codegen/ops/definitions.h"

namespace fovea::ops {

namespace {

/// `of`, with `by` in the place of `replaced`: what leads from there is copied.
class Replacement {
  public:
    Replacement(Graph& graph, int replaced, Tensor by)
        : graph_(graph), made_(graph.nodes.size(), kNot) {
        made_[std::size_t(replaced)] = by.id;
    }

    int of(int id) {
        if (id <= 0) return id;
        if (made_[std::size_t(id)] != kNot) return made_[std::size_t(id)];
        Node node = graph_[id];
        bool changes = false;
        for (int& input : node.inputs) {
            if (input <= 0) continue;
            const int made = of(input);
            changes = changes || made != input;
            input = made;
        }
        return made_[std::size_t(id)] = changes ? graph_.add(node) : id;
    }

  private:
    static constexpr int kNot = -2;

    Graph& graph_;
    std::vector<int> made_;  // by node
};

void own_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (!has_own_gradient(node)) return;
    Graph& graph = *y.graph;
    if (sink.wants(2))
        sink.add(2, {&graph, Replacement(graph, node.inputs[1], dy).of(node.inputs[3])});
    if (node.axis && sink.wants(0)) sink.add(0, dy);
}

void stop_gradient_reference(const Evaluation& e, Array& result) {
    result.values = e.inputs[0]->values;
}

Tensor stop_gradient_derive(const Derivation& d) { return d.inputs[0]; }

Tensor stop_gradient_batch(const Batch& b) {
    if (!has_own_gradient(b.node())) return stop_gradient(b.input(0));
    Node node = b.node();
    node.shape = b.input(0).shape();
    for (int i = 0; i < 4; ++i) node.inputs[std::size_t(i)] = b.input(i).id;
    return make(b.target, node);
}
std::optional<std::string_view> why_no_own_gradient_of_many(const Graph& graph, const Node& node,
                                                            std::uint64_t along, int) {
    static_cast<void>(graph);
    if (!has_own_gradient(node) || along & 1) return {};
    return "a custom_gradient whose value is the same for all elements, and its operand is not";
}

std::string stop_gradient_text(const Graph&, const Node& node) {
    return has_own_gradient(node) ? "custom_gradient" : "stop_gradient";
}

}  // namespace

OpDef stop_gradient_def() {
    return {.op = Op::stop_gradient,
            .inputs = {1, 4},
            .cost = Cost::none,
            .copied = 1,
            .reference = stop_gradient_reference,
            .gradient = own_gradient,
            .axis = aligned_axis,
            .batch = stop_gradient_batch,
            .why_not_batch = why_no_own_gradient_of_many,
            .derive = stop_gradient_derive,
            .text = stop_gradient_text};
}

}  // namespace fovea::ops
