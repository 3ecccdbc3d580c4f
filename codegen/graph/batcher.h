// A function of one element, taken for many at once: the scores of all pairs, the values of all
// steps of a loop.
#pragma once

#include <functional>
#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea {

/// Why node `id` cannot be taken for many elements at once, which `axes` axes number; `along`: the
/// inputs (bits) that change from element to element.
std::optional<std::string_view> why_not_batched(const Graph& graph, int id, std::uint64_t along,
                                                int axes);

/// Builds nodes of a function in another graph: values that change from element to element get axes
/// in front of their own, the others stay as they are.
class Batcher {
  public:
    /// A rule of the caller's, which comes before that of the op.
    using Rule = std::function<std::optional<Batched>(int id)>;

    Batcher(const Graph& function, Graph& target, int axes, Rule rule = {})
        : function_(function),
          target_(target),
          axes_(axes),
          rule_(std::move(rule)),
          values_(function.nodes.size()) {}

    void define(int id, Batched value) { values_[std::size_t(id)] = value; }
    bool is_defined(int id) const { return values_[std::size_t(id)].tensor.exists(); }
    /// The value of a node, whose leaves are defined or known to the rule. UserError for an op that
    /// cannot be taken for many at once.
    Batched value(int id);

  private:
    Batched build(int id);
    Batched copy(int id);

    const Graph& function_;
    Graph& target_;
    int axes_;
    Rule rule_;
    std::vector<Batched> values_;
};

}  // namespace fovea
