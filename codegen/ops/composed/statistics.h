// What rows come to, made of sums and maxima: smallest values, positions, logarithms of sums,
// variances.
#pragma once

#include "codegen/ops/composed/composed.h"
#include "codegen/ops/reduction.h"

namespace fovea {

/// The smallest value along one axis (PyTorch's amin).
template <class = void>
constexpr Tensor amin(Tensor x, int axis, bool keepdim = false,
                      Location location = Location::here()) {
    if (!detail::has_float_axis("amin", x, axis, location)) return poison_of({x});
    Tensor largest = amax(unary(Elementwise::neg, x, location), axis, keepdim, location);
    return unary(Elementwise::neg, largest, location);
}

/// Whether any of the booleans along one axis is true; false of none.
template <class = void>
constexpr Tensor any(Tensor x, int axis, bool keepdim = false,
                     Location location = Location::here()) {
    if (!detail::has_boolean_axis("any", x, axis, location)) return poison_of({x});
    const detail::At at{location};
    return at(amax(cast(x, f32, location), axis, keepdim, location)) > 0.0;
}
/// Whether all of the booleans along one axis are true; true of none.
template <class = void>
constexpr Tensor all(Tensor x, int axis, bool keepdim = false,
                     Location location = Location::here()) {
    if (!detail::has_boolean_axis("all", x, axis, location)) return poison_of({x});
    return logical_not(any(logical_not(x, location), axis, keepdim, location), location);
}

namespace detail {

/// Where the largest values along an axis are; those that are NaN, where there are such.
constexpr Tensor is_largest_of(Tensor x, int axis, Location location) {
    const At at{location};
    Tensor is_equal = eq(at(x), at(amax(x, axis, true, location)));
    Tensor is_none = logical_not(eq(at(x), at(x)), location);
    return logical_or(at(is_equal), at(is_none));
}

/// That an axis has so many positions: a program is not run at sizes where these do not lie within
/// it. Nothing reads the slice.
constexpr void has_positions(Tensor x, int axis, int count, Location location) {
    if (!x.dim(axis).is_static()) slice(x, axis, 0, count, location);
}

/// The first position along an axis where a condition holds, i32.
constexpr Tensor first_position(Tensor condition, int axis, bool keepdim, Location location) {
    const At at{location};
    Tensor position = positions_along(*condition.graph, condition.shape()[axis], axis,
                                      condition.rank(), location);
    position = cast(position, f32, location);
    Tensor before = where(condition, at(unary(Elementwise::neg, position, location)),
                          at(-std::numeric_limits<double>::infinity()));
    Tensor first = amax(before, axis, keepdim, location);
    return cast(unary(Elementwise::neg, first, location), i32, location);
}

}  // namespace detail

/// The position of the largest value along one axis, i32; the first of several, and of NaN where
/// there is one. Axes have at most 2^24 positions.
template <class = void>
constexpr Tensor argmax(Tensor x, int axis, bool keepdim = false,
                        Location location = Location::here()) {
    if (!detail::has_float_axis("argmax", x, axis, location)) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (const Dim size = x.dim(i); size.is_static() && size.value() > 1 << 24) {
        Text text;
        text << "argmax over axis " << axis << " of " << x.shape()
             << ": it counts to 16777216 positions";
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    detail::has_positions(x, i, 1, location);
    Tensor is_largest = detail::is_largest_of(x, i, location);
    return detail::first_position(is_largest, i, keepdim, location);
}
/// The position of the smallest value along one axis, as `argmax`.
template <class = void>
constexpr Tensor argmin(Tensor x, int axis, bool keepdim = false,
                        Location location = Location::here()) {
    if (!detail::has_float_axis("argmin", x, axis, location)) return poison_of({x});
    return argmax(unary(Elementwise::neg, x, location), axis, keepdim, location);
}

namespace detail {

/// ln Σ e^x over one axis, which stays with size 1. The largest value is taken out first, unless
/// it is infinite.
constexpr Tensor kept_logsumexp(Tensor x, int axis, Location location) {
    const At at{location};
    Tensor largest = stop_gradient(amax(x, axis, true, location), location);
    Tensor is_finite = at(abs(largest, location)) < std::numeric_limits<double>::infinity();
    Tensor shift = where(is_finite, at(largest), 0.0);
    Tensor total = sum(exp(at(x) - shift, location), axis, true, location);
    return at(log(total, location)) + shift;
}

}  // namespace detail

/// ln Σ e^x over one axis.
template <class = void>
constexpr Tensor logsumexp(Tensor x, int axis, bool keepdim = false,
                           Location location = Location::here()) {
    if (!detail::has_float_axis("logsumexp", x, axis, location)) return poison_of({x});
    Tensor kept = detail::kept_logsumexp(x, axis, location);
    return keepdim ? kept : squeeze(kept, axis, location);
}
/// x - ln Σ e^x over one axis: the logarithm of softmax. The largest value is taken from x itself,
/// so that large ones lose no digits; NaN where it is infinite, as PyTorch's.
template <class = void>
constexpr Tensor log_softmax(Tensor x, int axis = -1, Location location = Location::here()) {
    if (!detail::has_float_axis("log_softmax", x, axis, location)) return poison_of({x});
    const detail::At at{location};
    Tensor rest = at(x) - stop_gradient(amax(x, axis, true, location), location);
    Tensor total = sum(exp(rest, location), axis, true, location);
    return at(rest) - log(total, location);
}

/// Σ (x - mean)² / (n - correction) over one axis of n (PyTorch's var): a correction of 1 for
/// samples, of 0 for the whole.
template <class = void>
constexpr Tensor variance(Tensor x, int axis, int correction = 1, bool keepdim = false,
                          Location location = Location::here()) {
    if (!detail::has_float_axis("variance", x, axis, location)) return poison_of({x});
    const detail::At at{location};
    Tensor rest = at(x) - mean(x, axis, true, location);
    Tensor total = sum(at(rest) * rest, axis, keepdim, location);
    const Operand size = at(x.dim(axis));
    Tensor count = at(detail::lifted(*x.graph, size, x.dtype(), location)) - double(correction);
    return at(total) / maximum(at(count), 0.0);
}

}  // namespace fovea
