// Batch normalisation as a layer, with running statistics (Ioffe and Szegedy 2015).
#pragma once

#include "codegen/ops/batch_norm.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/when_training.h"
#include "dsl/norms.h"

namespace fovea {

struct BatchNormOptions {
    double eps = 1e-5;
    double momentum = 0.1;  // the share of a batch's statistics in the running ones
    bool track_running_stats = true;  // false: those of the batch itself count in every mode
    bool weight = true;
    bool bias = true;
};

namespace detail {

/// x by the statistics that were tracked, [features], in float32.
constexpr Tensor normalise_by(Tensor x, Tensor mean, Tensor variance, Tensor weight, Tensor bias,
                              int axis, double eps, Location location) {
    const At at{location};
    const auto along = [&](Tensor features) {
        return place_axes(cast(features, f32, location), x.rank(), {axis}, location);
    };
    Tensor scale = rsqrt(at(along(variance)) + eps, location);
    scale = at(along(weight)) * scale;
    Tensor centered = at(cast(x, f32, location)) - along(mean);
    Tensor scaled = at(centered) * scale;
    return cast(at(scaled) + along(bias), x.dtype(), location);
}

/// What running mean and variance become, while a model is trained: the variance is unbiased.
constexpr void track_statistics(Scope s, Tensor x, Tensor mean, Tensor variance, int axis,
                                double momentum, Location location) {
    const At at{location};
    Dim count = 1;
    for (int i = 0; i < x.rank(); ++i)
        if (i != axis) count = count * x.dim(i).without_label();
    const auto features = [&](Tensor of) {
        for (int i = x.rank() - 1; i >= 0; --i)
            if (i != axis) of = squeeze(of, i, location);
        return of;
    };
    const auto track = [&](Tensor state, Tensor batch) {
        Tensor kept = at(state) * (1 - momentum), taken = at(batch) * momentum;
        s.update(state, when_training(at(kept) + taken, state, location), location);
    };
    Tensor values = cast(x, f32, location);
    Tensor batch_mean = mean_of_features(values, axis, location);
    Tensor centered = at(values) - batch_mean;
    Tensor batch_variance = mean_of_features(at(centered) * centered, axis, location);
    Tensor size = lifted(*x.graph, count, f32, location);
    Tensor others = maximum(at(at(size) - 1.0), 1.0);
    Tensor unbiased = at(features(batch_variance)) * (at(size) / others);
    track(mean, features(batch_mean));
    track(variance, unbiased);
}

}  // namespace detail

/// Normalises every position of axis `axis` over all other axes, as PyTorch's BatchNorm does: while
/// training with the statistics of x itself, else with the running ones. Parameters `weight` and
/// `bias`, states `running_mean` and `running_var`, all of that axis.
template <class = void>
constexpr Tensor batch_norm(Scope s, Tensor x, int axis = 1, BatchNormOptions options = {},
                            Location location = Location::here()) {
    if (!is_usable("batch_norm", location, {x})) return poison_of({x});
    const bool has_axis = axis >= -x.rank() && axis < x.rank() && is_float(x.dtype());
    if (!has_axis || !(options.momentum >= 0 && options.momentum <= 1)) {
        Text text;
        text << "batch_norm over axis " << axis << " of " << name_of(x.dtype()) << " " << x.shape()
             << (has_axis ? ": its momentum must be in [0, 1]"
                          : ": expected f32, bf16 or f16 that has this axis");
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, s.id, text);
    }
    Shape shape;
    shape.push(x.dim(axis));
    Tensor weight = detail::norm_weight(s, x, shape, options.weight, location);
    Tensor bias = detail::norm_bias(s, x, shape, options.bias, location);
    Tensor y = batch_norm(x, weight, bias, axis, options.eps, location);
    if (!options.track_running_stats || y.is_poison()) return value_of(s, y);
    const int i = axis < 0 ? axis + x.rank() : axis;
    Tensor mean = s.state("running_mean", shape, Initial::zeros, location);
    Tensor variance = s.state("running_var", shape, Initial::ones, location);
    if (mean.is_poison() || variance.is_poison()) return {x.graph, 0};
    detail::track_statistics(s, x, mean, variance, i, options.momentum, location);
    Tensor tracked =
        detail::normalise_by(x, mean, variance, weight, bias, i, options.eps, location);
    return value_of(s, when_training(y, tracked, location));
}

}  // namespace fovea
