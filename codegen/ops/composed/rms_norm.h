// Normalisations by more than one line: by the root of the mean square, and by groups of channels.
#pragma once

#include "codegen/ops/composed/composed.h"
#include "codegen/ops/layer_norm.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace detail {

/// The mean over the axes of `axes`, which stay with size 1.
constexpr Tensor mean_over(Tensor x, int axes, Location location) {
    if (x.is_poison()) return x;
    Dim count = 1;
    for (int i = 0; i < x.rank(); ++i)
        if (axes >> i & 1) count = count * x.shape()[i].without_label();
    const At at{location};
    return at(reduce(Reduction::sum, x, axes, location)) / at(count);
}

}  // namespace detail

/// x / sqrt(mean(x²) + eps) * weight over the axes of `weight`, which are x's last (Zhang and
/// Sennrich 2019).
template <class = void>
constexpr Tensor rms_norm(Tensor x, Tensor weight, double eps = 1e-6,
                          Location location = Location::here()) {
    if (!is_usable("rms_norm", location, {x, weight})) return poison_of({x, weight});
    const int first = x.rank() - weight.rank();
    bool ok = is_float(x.dtype()) && x.dtype() == weight.dtype() && first >= 0 && weight.rank() > 0;
    for (int i = 0; ok && i < weight.rank(); ++i)
        ok = fits(x.shape()[first + i], weight.shape()[i]);
    if (!ok) {
        Text text;
        text << "rms_norm: weight " << name_of(weight.dtype()) << " " << weight.shape()
             << " is not the last axes of " << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(weight.id), text);
    }
    if (!detail::is_epsilon("rms_norm", eps, weight, location)) return {x.graph, 0};
    const detail::At at{location};
    const int axes = (1 << x.rank()) - (1 << first);
    Tensor square = detail::mean_over(at(x) * x, axes, location);
    return at(at(x) * rsqrt(at(square) + eps, location)) * weight;
}

/// (x - mean) / sqrt(variance + eps) * weight + bias, mean and (biased) variance over all positions
/// of a group: x [batch, channels, ...] of at most 5 axes, `groups` groups of neighbouring
/// channels; weight and bias [channels] (Wu and He 2018).
template <class = void>
constexpr Tensor group_norm(Tensor x, const Dim& groups, Tensor weight, Tensor bias,
                            double eps = 1e-5, Location location = Location::here()) {
    if (!is_usable("group_norm", location, {x, weight, bias})) return poison_of({x, weight, bias});
    bool ok = is_float(x.dtype()) && x.rank() >= 2 && x.rank() < Shape::kMaxRank;
    for (Tensor parameter : {weight, bias})
        ok = ok && parameter.rank() == 1 && parameter.dtype() == x.dtype() &&
             fits(parameter.shape()[0], x.shape()[1]);
    if (!ok || !x.shape()[1].divisible_by(groups)) {
        Text text;
        text << "group_norm: " << groups << " groups of channels, weight " << weight.shape()
             << " and bias " << bias.shape() << " do not go with " << name_of(x.dtype()) << " "
             << x.shape() << " (expected [batch, channels, ...] of at most 5 axes)";
        return detail::movement_mistake(x, text, location);
    }
    if (!detail::is_epsilon("group_norm", eps, weight, location)) return {x.graph, 0};
    const detail::At at{location};
    RearrangeAxes split = detail::keep_axes(x.shape());
    split.count = x.rank() + 1;
    for (int i = x.rank(); i > 2; --i) split.axis.values[i] = x.shape()[i - 1];
    split.axis.values[1] = groups.without_label();
    split.axis.values[2] = x.shape()[1].without_label() / groups.without_label();
    split.input_group.values[1] = 2;
    split.order.values[x.rank()] = (signed char)x.rank();
    split.output_group.values[x.rank()] = 1;
    Tensor grouped = rearrange(x, split, location);
    if (grouped.is_poison()) return grouped;
    const int axes = (1 << grouped.rank()) - 4;
    Tensor rest = at(grouped) - detail::mean_over(grouped, axes, location);
    Tensor square = detail::mean_over(at(rest) * rest, axes, location);
    Tensor normalised = at(rest) * rsqrt(at(square) + eps, location);
    RearrangeAxes merge = detail::keep_axes(normalised.shape());
    merge.output_group.values[1] = 2;
    merge.output_group.values[x.rank()] = -1;
    Tensor merged = rearrange(normalised, merge, location);
    Tensor scale = place_axes(weight, x.rank() - 1, {0}, location);
    Tensor shift = place_axes(bias, x.rank() - 1, {0}, location);
    return at(at(merged) * scale) + shift;
}

}  // namespace fovea
