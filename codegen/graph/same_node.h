// Whether two nodes compute the same function of their inputs.
#pragma once

#include <cstdint>
#include <tuple>

#include "codegen/graph/graph.h"

namespace fovea {

/// The fields that say what a node computes of its inputs, besides its shape, `Node::dim` and its
/// attribute, which are compared by what they mean. All fields are named, so that one which is
/// added has to be told apart here.
template <class SomeNode>
auto settings_of(SomeNode& node) {
    auto& [op, function, dtype, shape, inputs, scope, region, location, name, value, dim, axis,
           stride, dilation, attribute, site, initial, zero_row, frozen, state, reduction,
           masked_rows, port, result, composite, backward, checkpoint, recomputed] = node;
    return std::tie(op, function, dtype, value, axis, stride, dilation, site, reduction,
                    masked_rows, port, result);
}

/// Whether nodes `a` and `b` have the same op and attributes: equal but for inputs, names and where
/// they come from. False for inputs, parameters, outputs and attention.
bool same_function(const Graph& graph_a, int a, const Graph& graph_b, int b);
/// Equal for nodes of the same function.
std::uint64_t hash_of_function(const Graph& graph, int id);

/// Whether two nodes are results of the same loss without logits: a kernel gives them together.
bool is_same_loss(const Graph& graph, int a, int b);

bool same_axes(const EinsumAxes& a, const EinsumAxes& b);
bool same_axes(const RearrangeAxes& a, const RearrangeAxes& b);

}  // namespace fovea
