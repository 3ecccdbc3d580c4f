// For ops that are made of others. These are templates, and so are other functions with common
// names: where a model has a function of its own that takes the same arguments, a compiler prefers
// that one. Ops that are arguments of one call have a statement each where there are two, since
// compilers differ in the order of arguments: nodes are numbered as they are made.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

namespace detail {

/// Whether x can be read and is of floats; what is wrong is said.
constexpr bool is_of_floats(const char* op, Tensor x, Location location) {
    if (!is_usable(op, location, {x})) return false;
    if (is_float(x.dtype())) return true;
    Text text;
    text << op << " does not take " << name_of(x.dtype()) << " " << x.shape();
    x.graph->write_origin(text, x.id);
    text << ": expected f32, bf16 or f16";
    fail(*x.graph, location, x.graph->scope_of(x.id), text);
    return false;
}

/// Positions 0, 1, … along axis `axis` of a tensor of `rank` axes, all others 1, as i32.
constexpr Tensor positions_along(Graph& graph, const Dim& size, int axis, int rank,
                                 Location location) {
    Shape shape;
    for (int k = 0; k < rank; ++k) shape.push(k == axis ? size : Dim(1));
    return iota(graph, shape, axis, location);
}

}  // namespace detail

}  // namespace fovea
