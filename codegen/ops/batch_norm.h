// Batch normalisation with the statistics of the batch itself, as in training (Ioffe and Szegedy
// 2015).
#pragma once

#include "codegen/ops/elementwise.h"
#include "codegen/ops/layer_norm.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace detail {

/// The mean over all axes but `axis`, which stay with size 1.
constexpr Tensor mean_of_features(Tensor x, int axis, Location location = Location::here()) {
    const Shape shape = x.shape();
    Tensor total = reduce(Reduction::sum, x, ((1 << x.rank()) - 1) & ~(1 << axis), location);
    for (int i = 0; i < shape.rank(); ++i)
        if (i != axis) total = At{location}(total) / shape[i];
    return total;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + eps) * weight + bias, mean and (biased) variance over all axes but
/// `axis`, the features'. weight and bias: [x.dim(axis)].
constexpr Tensor batch_norm(Tensor x, Tensor weight, Tensor bias, int axis = 1, double eps = 1e-5,
                            Location location = Location::here()) {
    if (!is_usable("batch_norm", location, {x, weight, bias})) return poison_of({x, weight, bias});
    int i = axis < 0 ? axis + x.rank() : axis;
    bool ok = i >= 0 && i < x.rank() && x.rank() >= 2 && is_float(x.dtype());
    for (Tensor parameter : {weight, bias})
        ok = ok && parameter.rank() == 1 && is_float(parameter.dtype()) &&
             fits(parameter.shape()[0], x.shape()[i]);
    if (!ok) {
        Text text;
        text << "batch_norm: weight " << weight.shape() << " and bias " << bias.shape()
             << " are not axis " << axis << " of " << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(weight.id), text);
    }
    if (!detail::is_epsilon("batch_norm", eps, weight, location)) return {x.graph, 0};
    return make(*x.graph, {.op = Op::batch_norm,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id, weight.id, bias.id}),
                           .location = location,
                           .value = eps,
                           .axis = i});
}

}  // namespace fovea
