// Reverse-mode differentiation: one walk backwards that applies the ops' gradient rules.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

struct GradientOptions {
    /// From the sum of output `loss`; otherwise from a new input `<output>.grad` for every float
    /// output.
    bool from_loss = true;
    /// Also the gradients of the float inputs.
    bool of_inputs = false;
};

/// The graph with the nodes of the gradient appended (`Node::backward`), and outputs
/// `<path>.grad` for every parameter and, if wanted, `<input>.grad` for every float input; zeros
/// for those that nothing depends on. Composites without a gradient rule are replaced by their
/// bodies. UserError when `from_loss` and there is no output `loss`.
Graph add_gradients(const Graph& graph, const GradientOptions& options = {});

}  // namespace fovea
