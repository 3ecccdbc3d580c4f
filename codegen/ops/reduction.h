// Sums, maxima and means over axes.
#pragma once

#include <bit>

#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

/// Over the axes whose bits are set in `axes`; they stay, with size 1.
constexpr Tensor reduce(Reduction reduction, Tensor x, int axes,
                        Location location = Location::here()) {
    if (x.is_poison()) return x;
    Shape shape = x.shape();
    for (unsigned left = unsigned(axes); left; left &= left - 1)
        shape[std::countr_zero(left)] = Dim(1);
    return {x.graph, x.graph->add({.op = Op::reduce,
                                   .dtype = x.dtype(),
                                   .shape = shape,
                                   .inputs = inputs_of({x.id}),
                                   .location = location,
                                   .axis = axes,
                                   .reduction = reduction})};
}

/// The sum of x over the axes along which a tensor of `shape` was repeated to give x's shape, as
/// that shape: what undoes broadcasting in a gradient.
Tensor sum_to(Tensor x, const Shape& shape);

namespace detail {

/// Whether x has this axis and is of a type that is taken; what is wrong is said, `hint` of a type.
constexpr bool has_axis(const char* name, Tensor x, int axis, bool is_taken, const char* hint,
                        Location location) {
    if (is_taken && axis >= -x.rank() && axis < x.rank()) return true;
    Text text;
    text << name << " over axis " << axis << " of " << name_of(x.dtype()) << " " << x.shape();
    x.graph->write_origin(text, x.id);
    text << ": " << (is_taken ? "there is no such axis" : hint);
    fail(*x.graph, location, x.graph->scope_of(x.id), text);
    return false;
}
constexpr bool has_float_axis(const char* name, Tensor x, int axis, Location location) {
    return is_usable(name, location, {x}) &&
           has_axis(name, x, axis, is_float(x.dtype()), "expected f32, bf16 or f16 (use cast)",
                    location);
}
constexpr bool has_boolean_axis(const char* name, Tensor x, int axis, Location location) {
    return is_usable(name, location, {x}) && has_axis(name, x, axis, x.dtype() == boolean,
                                                      "expected bool (compare it first)", location);
}

constexpr Tensor reduce_axis(Reduction reduction, const char* name, Tensor x, int axis,
                             bool keepdim, Location location) {
    if (!has_float_axis(name, x, axis, location)) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    Tensor kept = reduce(reduction, x, 1 << i, location);
    return keepdim ? kept : squeeze(kept, i, location);
}

}  // namespace detail

/// The sum over one axis; `keepdim` leaves it with size 1.
constexpr Tensor sum(Tensor x, int axis, bool keepdim = false,
                     Location location = Location::here()) {
    return detail::reduce_axis(Reduction::sum, "sum", x, axis, keepdim, location);
}
/// The largest value along one axis (PyTorch's amax).
constexpr Tensor amax(Tensor x, int axis, bool keepdim = false,
                      Location location = Location::here()) {
    return detail::reduce_axis(Reduction::max, "amax", x, axis, keepdim, location);
}
/// The mean over one axis.
constexpr Tensor mean(Tensor x, int axis, bool keepdim = false,
                      Location location = Location::here()) {
    Tensor total = detail::reduce_axis(Reduction::sum, "mean", x, axis, keepdim, location);
    if (total.is_poison()) return total;
    const detail::At at{location};
    return at(total) / at(x.dim(axis));
}
/// Σ a·b over the last axis.
constexpr Tensor dot(Operand a, Operand b) {
    return sum(binary(Elementwise::mul, a, b), -1, false, a.location);
}

}  // namespace fovea
