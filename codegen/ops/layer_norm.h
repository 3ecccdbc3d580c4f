// Layer normalisation over any trailing axes (Ba, Kiros and Hinton 2016).
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

namespace detail {

/// Whether `eps`, which norms add to a mean square, is 0 or above; else the graph fails, in the
/// scope of a parameter of the op.
constexpr bool is_epsilon(const char* op, double eps, Tensor parameter, Location location) {
    if (eps >= 0) return true;
    Graph& graph = *parameter.graph;
    Text text;
    text << op << ": eps must be 0 or above: it is added to a mean square, whose root is taken";
    fail(graph, location, graph.scope_of(parameter.id), text);
    return false;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + eps) * weight + bias over the axes of `weight`, which are x's last;
/// the variance is the biased one.
constexpr Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, double eps = 1e-5,
                            Location location = Location::here()) {
    if (!is_usable("layer_norm", location, {x, weight, bias})) return poison_of({x, weight, bias});
    int first = x.rank() - weight.rank();
    bool ok = is_float(x.dtype()) && is_float(weight.dtype()) && is_float(bias.dtype());
    ok = ok && first >= 0 && weight.rank() > 0 && fits(weight.shape(), bias.shape());
    for (int i = 0; ok && i < weight.rank(); ++i)
        ok = fits(x.shape()[first + i], weight.shape()[i]);
    if (!ok) {
        Text text;
        text << "layer_norm: weight " << weight.shape() << " and bias " << bias.shape()
             << " are not the last axes of " << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(weight.id), text);
    }
    if (!detail::is_epsilon("layer_norm", eps, weight, location)) return {x.graph, 0};
    return make(*x.graph, {.op = Op::layer_norm,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id, weight.id, bias.id}),
                           .location = location,
                           .value = eps,
                           .axis = first});
}

}  // namespace fovea
