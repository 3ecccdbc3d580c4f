// The printed form of a graph: one line a node, regions nested.
#pragma once

#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// `%12 = einsum 'a b, c b -> a c' (%3, %7) : f32 [batch, 4]  # encoder.ffn transformer.h:34`
std::string print(const Graph& graph);
/// One node's line, without indentation and line end.
std::string print_node(const Graph& graph, int id);
/// `a b c, b c d -> a d`: axes as letters, by their labels.
std::string print_axes(const EinsumAxes& axes);
/// `a (b c) -> b a c, c=16`: axes as letters; sizes where a group is split.
std::string print_axes(const RearrangeAxes& axes);
/// A size, and a number, as they are printed.
std::string dim_text(const Dim& dim);
std::string number_text(double value);
/// `add`, `einsum 'a b, c b -> a c'`, `softmax axis=2`: the op and its attributes.
std::string print_op(const Graph& graph, int id);

}  // namespace fovea
