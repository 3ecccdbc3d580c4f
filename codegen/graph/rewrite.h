// Rebuilding a graph node by node: how every pass over the graph is written.
#pragma once

#include <optional>
#include <vector>

#include "codegen/graph/intern.h"
#include "codegen/graph/tensor.h"

namespace fovea {

/// Copies what `node`, of graph `from`, has in the table of its op's attributes to that of `to`.
void copy_attribute(const Graph& from, Node& node, Graph& to);

/// Copies a graph, node by node; a pass may replace a node.
class Rewrite {
  public:
    explicit Rewrite(const Graph& source);

    const Graph& source() const { return source_; }
    Graph& target() { return target_; }
    /// The value in the target that replaces a node of the source (already visited).
    Tensor mapped(int source_id);
    /// A copy of the node with its inputs mapped (and its score region, for attention).
    Tensor copy(int source_id);
    /// Maps the node to `value`.
    void set(int source_id, Tensor value);

    /// Visits the nodes of region 0 in order. `rule` gives what to put in a node's place, or
    /// nothing for a plain copy. New nodes take the node's location, module and composite.
    template <class Rule>
    static Graph run(const Graph& source, Rule&& rule) {
        Rewrite rewrite(source);
        for (int id = 1; id < int(source.nodes.size()); ++id) {
            if (source[id].region != 0) continue;
            std::optional<Tensor> replacement;
            {
                Graph::From from(rewrite.target_, source[id]);
                replacement = rule(rewrite, id);
            }
            rewrite.set(id, replacement ? *replacement : rewrite.copy(id));
        }
        return std::move(rewrite.target_);
    }

  private:
    Tensor copy_node(int source_id);

    const Graph& source_;
    Graph target_;
    std::vector<std::vector<int>> region_nodes_;  // of the source, by region
    std::vector<int> map_;  // source id to target id; -1: not yet
};

/// How many operands of nodes each node is.
std::vector<int> count_readers(const Graph& graph);

}  // namespace fovea
