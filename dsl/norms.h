// Normalisations as layers: their weight and bias are parameters, or left out.
#pragma once

#include "codegen/ops/composed/rms_norm.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/layer_norm.h"
#include "dsl/scope.h"

namespace fovea {

struct LayerNormOptions {
    int axes = 1;  // the last ones
    double eps = 1e-5;
    bool weight = true;
    bool bias = true;
};

struct RmsNormOptions {
    int axes = 1;  // the last ones
    double eps = 1e-6;
    bool weight = true;
};

struct GroupNormOptions {
    double eps = 1e-5;
    bool weight = true;
    bool bias = true;
};

namespace detail {

/// The shape of the last `axes` axes of x, which a norm goes over; says what is wrong with them.
constexpr bool last_axes(const char* norm, Scope s, Tensor x, int axes, Shape& shape,
                         Location location) {
    if (!is_usable(norm, location, {x})) return false;
    if (axes < 1 || axes > x.rank() || !is_float(x.dtype())) {
        Text text;
        text << norm << " over the last " << axes << " axes of " << name_of(x.dtype()) << " "
             << x.shape() << ": expected f32, bf16 or f16, and 1 to " << x.rank() << " axes";
        x.graph->write_origin(text, x.id);
        fail(*x.graph, location, s.id, text);
        return false;
    }
    for (int i = x.rank() - axes; i < x.rank(); ++i) shape.push(x.dim(i));
    return true;
}

/// What a norm multiplies by: the parameter `weight`, or ones where it has none.
constexpr Tensor norm_weight(Scope s, Tensor x, const Shape& shape, bool has, Location location) {
    return has ? s.parameter("weight", shape, Initial::ones, x.dtype(), location)
               : full(*x.graph, shape, 1, x.dtype(), location);
}
/// What a norm adds: the parameter `bias`, or zeros where it has none.
constexpr Tensor norm_bias(Scope s, Tensor x, const Shape& shape, bool has, Location location) {
    return has ? s.parameter("bias", shape, Initial::zeros, x.dtype(), location)
               : full(*x.graph, shape, 0, x.dtype(), location);
}

}  // namespace detail

/// Normalises over the last `axes` axes of x. Parameters `weight` and `bias`, of those axes.
constexpr Tensor layer_norm(Scope s, Tensor x, LayerNormOptions options,
                            Location location = Location::here()) {
    Shape shape;
    if (!detail::last_axes("layer_norm", s, x, options.axes, shape, location))
        return poison_of({x});
    Tensor weight = detail::norm_weight(s, x, shape, options.weight, location);
    Tensor bias = detail::norm_bias(s, x, shape, options.bias, location);
    return value_of(s, layer_norm(x, weight, bias, options.eps, location));
}
constexpr Tensor layer_norm(Scope s, Tensor x, int axes = 1, double eps = 1e-5,
                            Location location = Location::here()) {
    return layer_norm(s, x, LayerNormOptions{axes, eps}, location);
}

/// Divides by the root of the mean square over the last `axes` axes of x. Parameter `weight`, of
/// those axes.
template <class = void>
constexpr Tensor rms_norm(Scope s, Tensor x, RmsNormOptions options,
                          Location location = Location::here()) {
    Shape shape;
    if (!detail::last_axes("rms_norm", s, x, options.axes, shape, location)) return poison_of({x});
    Tensor weight = detail::norm_weight(s, x, shape, options.weight, location);
    return value_of(s, rms_norm(x, weight, options.eps, location));
}
template <class = void>
constexpr Tensor rms_norm(Scope s, Tensor x, int axes = 1, double eps = 1e-6,
                          Location location = Location::here()) {
    return rms_norm(s, x, RmsNormOptions{axes, eps}, location);
}

/// Normalises each of `groups` groups of the channels of x [batch, channels, ...] over all its
/// positions. Parameters `weight` and `bias` [channels].
template <class = void>
constexpr Tensor group_norm(Scope s, Tensor x, Dim groups, GroupNormOptions options,
                            Location location = Location::here()) {
    if (!is_usable("group_norm", location, {x})) return poison_of({x});
    if (x.rank() < 2 || !is_float(x.dtype())) {
        Text text;
        text << "group_norm: expected f32, bf16 or f16 [batch, channels, ...], got "
             << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, s.id, text);
    }
    Shape channels;
    channels.push(x.dim(1));
    Tensor weight = detail::norm_weight(s, x, channels, options.weight, location);
    Tensor bias = detail::norm_bias(s, x, channels, options.bias, location);
    return value_of(s, group_norm(x, groups, weight, bias, options.eps, location));
}
template <class = void>
constexpr Tensor group_norm(Scope s, Tensor x, Dim groups, double eps = 1e-5,
                            Location location = Location::here()) {
    return group_norm(s, x, groups, GroupNormOptions{eps}, location);
}

}  // namespace fovea
