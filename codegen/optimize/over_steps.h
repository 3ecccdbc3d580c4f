// The values of a scan's step for all steps at once.
#pragma once

#include <functional>
#include <vector>

#include "codegen/graph/tensor.h"

namespace fovea {

/// Whether a node of a step can be computed for all steps at once from its inputs.
bool is_possible_over_steps(const Graph& step, int id);

/// Builds nodes of a step in the graph around it: values that differ from step to step get a
/// leading axis of steps.
class OverSteps {
  public:
    struct Value {
        Tensor tensor;
        bool along = false;  // [steps, …]
    };
    OverSteps(const Graph& step, Graph& target)
        : step_(step), target_(target), values_(step.nodes.size()) {}

    void define(int id, Value value) { values_[std::size_t(id)] = value; }
    bool is_defined(int id) const { return bool(values_[std::size_t(id)].tensor); }
    /// The value of a node; its leaves are defined.
    Value value(int id);

  private:
    Value build(int id);
    Value build_elementwise(int id);
    Value build_einsum(const Node& node);
    Value build_rearrange(const Node& node);
    Value build_concat(const Node& node);
    Tensor aligned(int id, int rank);
    Value of(int id) const { return values_[std::size_t(id)]; }

    const Graph& step_;
    Graph& target_;
    std::vector<Value> values_;
};

}  // namespace fovea
