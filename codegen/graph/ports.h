// The signature of a function that a node holds: a step of a scan, the score of a pair.
#pragma once

#include <string_view>

#include "codegen/graph/graph.h"

namespace fovea {

/// `state3`, `query`, `capture0.grad`: how a port is printed, and set in the reference.
std::string_view name_of(const Port& port);

/// The input or output of the function that stands there; 0 where there is none.
int find_input(const Graph& function, const Port& port);
int find_output(const Graph& function, const Port& port);

/// The output of a model of this name; 0 where there is none.
int find_output(const Graph& graph, std::string_view name);

/// An input of a function that stands for a value `like` this.
Node input_like(const Node& like, const Port& port);
/// The output of a function that gives node `id` of it.
Node output_of(const Graph& function, int id, const Port& port);

}  // namespace fovea
