#include "codegen/autodiff/recompute_checkpoints.h"

#include <algorithm>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

/// Whether a node is of the forward pass. A loop's values that are saved for its gradient are
/// results of the loop.
bool is_forward(const Graph& graph, int id) {
    if (!graph[id].backward || !is_scan(graph, id)) return !graph[id].backward;
    for (int other = 1; other < int(graph.nodes.size()); ++other)
        if (!graph[other].backward && is_same_scan(graph, id, other)) return true;
    return false;
}

/// Copies the graph, and some of its values again.
class Recomputation {
  public:
    Recomputation(const Graph& graph, const std::vector<bool>& values)
        : graph_(graph), values_(values), again_(graph.nodes.size(), -1), rewrite_(graph) {}

    Graph run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (graph_[id].region != 0) continue;
            const bool of_gradient = !is_forward(graph_, id);
            if (of_gradient) read_again(graph_[id].inputs);
            rewrite_.set(id, rewrite_.copy(id));
            read_first();
        }
        return std::move(rewrite_.target());
    }

  private:
    bool is_made_again(int id) const { return id > 0 && values_[std::size_t(id)]; }
    /// Inputs that are made again stand for themselves, until `read_first`.
    void read_again(const Inputs& inputs) {
        for (int input : inputs) {
            if (!is_made_again(input)) continue;
            const int made = again(input);
            first_.emplace_back(input, rewrite_.mapped(input));
            rewrite_.set(input, {&rewrite_.target(), made});
        }
    }
    void read_first() {
        for (auto at = first_.rbegin(); at != first_.rend(); ++at)
            rewrite_.set(at->first, at->second);
        first_.clear();
    }
    int again(int id) {
        int& made = again_[std::size_t(id)];
        if (made >= 0) return made;
        Node node = graph_[id];
        for (int& input : node.inputs)
            if (input >= 0) input = is_made_again(input) ? again(input) : rewrite_.mapped(input).id;
        copy_attribute(graph_, node, rewrite_.target());
        node.recomputed = true;
        rewrite_.target().nodes.push_back(node);
        return again_[std::size_t(id)] = int(rewrite_.target().nodes.size()) - 1;
    }

    const Graph& graph_;
    const std::vector<bool>& values_;  // those that are made again
    std::vector<int> again_;  // in the target, by node; -1: not yet
    Rewrite rewrite_;
    std::vector<std::pair<int, Tensor>> first_;
};

}  // namespace

std::vector<bool> values_inside_checkpoints(const Graph& graph) {
    std::vector<bool> inside(graph.nodes.size(), false);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        inside[std::size_t(id)] =
            node.checkpoint != 0 && node.region == 0 && node.inputs[0] > 0 && is_forward(graph, id);
    }
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        if (!is_forward(graph, id)) continue;
        for (int input : node.inputs)
            if (input > 0 && (node.op == Op::output || node.checkpoint != graph[input].checkpoint))
                inside[std::size_t(input)] = false;
    }
    return inside;
}

Graph make_again(const Graph& graph, const std::vector<bool>& values) {
    const bool any = std::ranges::find(values, true) != values.end();
    return any ? Recomputation(graph, values).run() : graph;
}

Graph recompute_checkpoints(const Graph& graph) {
    return make_again(graph, values_inside_checkpoints(graph));
}

}  // namespace fovea
