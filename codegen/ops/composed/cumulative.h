// Running sums and products along an axis, step by step.
#pragma once

#include "codegen/ops/composed/arrangement.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/scan.h"

namespace fovea {

namespace detail {

/// What f(total, value) comes to along axis `axis`, which is the first of the result: at every
/// position, and at the last. Of bf16 and f16 it is computed in f32.
constexpr Step<Tensor, Tensor> accumulate(Elementwise f, double start, Tensor x, int axis,
                                          Location location) {
    Tensor steps = axis_first(x, axis < 0 ? axis + x.rank() : axis, false, location);
    Shape shape;
    for (int i = 1; i < steps.rank(); ++i) shape.push(steps.shape()[i]);
    Tensor initial = full(*x.graph, shape, start, f32, location);
    const auto step = [&](Tensor value, Tensor total) {
        const At at{location};
        Tensor next = binary(f, at(total), at(value));
        return Step<Tensor, Tensor>{next, next};
    };
    const auto [all, last] = scan(cast(steps, f32, location), initial, step, {}, location);
    return {cast(all, x.dtype(), location), cast(last, x.dtype(), location)};
}
constexpr Tensor cumulative(const char* name, Elementwise f, double start, Tensor x, int axis,
                            Location location) {
    if (!has_float_axis(name, x, axis, location)) return poison_of({x});
    Tensor totals = accumulate(f, start, x, axis, location).value;
    return axis_first(totals, axis < 0 ? axis + x.rank() : axis, true, location);
}

}  // namespace detail

/// At every position of axis `axis`, the sum up to there.
template <class = void>
constexpr Tensor cumsum(Tensor x, int axis, Location location = Location::here()) {
    return detail::cumulative("cumsum", Elementwise::add, 0, x, axis, location);
}
/// At every position of axis `axis`, the product up to there.
template <class = void>
constexpr Tensor cumprod(Tensor x, int axis, Location location = Location::here()) {
    return detail::cumulative("cumprod", Elementwise::mul, 1, x, axis, location);
}
/// The product over one axis.
template <class = void>
constexpr Tensor prod(Tensor x, int axis, bool keepdim = false,
                      Location location = Location::here()) {
    if (!detail::has_float_axis("prod", x, axis, location)) return poison_of({x});
    Tensor product = detail::accumulate(Elementwise::mul, 1, x, axis, location).state;
    if (product.is_poison() || !keepdim) return product;
    return unsqueeze(product, axis < 0 ? axis + x.rank() : axis, location);
}

}  // namespace fovea
