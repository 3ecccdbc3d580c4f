// Lowered kernels and the graph they come from as a planned program.
#pragma once

#include "codegen/graph/graph.h"
#include "codegen/lower/lower.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/share_kernels.h"
#include "codegen/target/lowering.h"

namespace fovea {

/// The parameters of a graph, in its order.
std::vector<plan::Tensor> parameters_of(const Graph& graph);

/// Other names of its parameters, in its order.
std::vector<plan::Alias> aliases_of(const Graph& graph);

/// `model_graph` is the graph as the user built it (what its inputs hold is read off it), `graph`
/// the optimized one. `parameters` are the model's; every parameter of the graph is among them.
plan::Program assemble_program(std::string name, const Graph& model_graph, const Graph& graph,
                               const fuse::FusedGraph& fused, const lower::Lowered& lowered,
                               const std::vector<plan::Tensor>& parameters, plan::KernelPool& pool,
                               const target::Lowering& target);

}  // namespace fovea
