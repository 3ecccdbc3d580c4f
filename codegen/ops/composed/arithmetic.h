// Functions of numbers that are made of the elementwise ones.
#pragma once

#include "codegen/ops/composed/composed.h"

namespace fovea {

/// x where it is from `low` to `high`, else the one that it is beyond; `high` where the two are the
/// wrong way around. Only what is inside has a gradient.
template <class = void>
constexpr Tensor clamp(Tensor x, Operand low, Operand high, Location location = Location::here()) {
    if (!is_usable("clamp", location, {x})) return poison_of({x});
    low.location = high.location = location;
    if (x.dtype() == i32) {  // has no gradient
        Tensor above = binary(Elementwise::maximum, detail::At{location}(x), low);
        if (above.is_poison()) return above;
        return binary(Elementwise::minimum, detail::At{location}(above), high);
    }
    const Operand own = detail::At{location}(x);
    const detail::At at{location};
    Tensor reaches_low = binary(Elementwise::le, low, own);
    Tensor reaches_high = binary(Elementwise::le, own, high);
    if (reaches_low.is_poison() || reaches_high.is_poison()) return {x.graph, 0};
    Tensor inside = logical_and(at(reaches_low), at(reaches_high));
    Tensor fixed = stop_gradient(x, location);
    Tensor above = binary(Elementwise::maximum, at(fixed), low);
    return where(inside, own, at(binary(Elementwise::minimum, at(above), high)));
}

/// The whole part: towards 0.
template <class = void>
constexpr Tensor trunc(Tensor x, Location location = Location::here()) {
    if (!detail::is_of_floats("trunc", x, location)) return poison_of({x});
    const detail::At at{location};
    Tensor below = floor(x, location), above = ceil(x, location);
    return where(at(x) < 0.0, at(above), at(below));
}

template <class = void>
constexpr Tensor square(Tensor x, Location location = Location::here()) {
    if (!is_usable("square", location, {x})) return poison_of({x});
    return detail::At{location}(x)*x;
}
template <class = void>
constexpr Tensor reciprocal(Tensor x, Location location = Location::here()) {
    if (!detail::is_of_floats("reciprocal", x, location)) return poison_of({x});
    return detail::At{location}(1.0) / x;
}
template <class = void>
constexpr Tensor tan(Tensor x, Location location = Location::here()) {
    if (!detail::is_of_floats("tan", x, location)) return poison_of({x});
    Tensor sine = sin(x, location), cosine = cos(x, location);
    return detail::At{location}(sine) / cosine;
}
template <class = void>
constexpr Tensor atan(Tensor x, Location location = Location::here()) {
    if (!detail::is_of_floats("atan", x, location)) return poison_of({x});
    return atan2(detail::At{location}(x), 1.0);
}

namespace detail {

/// Of whole numbers: the quotient a / b towards 0, what is left, and whether that has not the sign
/// of b, so that the quotient below is one less.
struct WholeQuotient {
    Tensor quotient, rest, is_above;
};
constexpr WholeQuotient divide_whole(Operand a, Operand b, Location location) {
    const At at{location};
    Tensor quotient = binary(Elementwise::div, a, b);
    if (quotient.is_poison()) return {quotient, quotient, quotient};
    Tensor rest = binary(Elementwise::sub, a, at(binary(Elementwise::mul, at(quotient), b)));
    if (!b.is_tensor()) {
        const bool negative = b.kind == Operand::Kind::number && b.number < 0;
        return {quotient, rest, negative ? at(rest) > 0 : at(rest) < 0};
    }
    Tensor is_below = at(rest) < 0, is_over = at(rest) > 0, is_negative = at(b.tensor) < 0;
    return {quotient, rest, where(is_negative, at(is_over), at(is_below))};
}

/// Whether one of two operands is a tensor of i32.
constexpr bool is_of_whole_numbers(const Operand& a, const Operand& b) {
    const Tensor x = a.is_tensor() ? a.tensor : b.tensor;
    return x.graph && !x.is_poison() && x.dtype() == i32;
}

}  // namespace detail

/// The largest whole number that a / b is not below, of i32 and of floats (PyTorch's, Python's //).
template <class = void>
constexpr Tensor floor_divide(Operand a, Operand b) {
    const detail::At at{a.location};
    b.location = a.location;
    if (!detail::is_of_whole_numbers(a, b)) {
        Tensor quotient = binary(Elementwise::div, a, b);
        return quotient.is_poison() ? quotient : floor(quotient, a.location);
    }
    const detail::WholeQuotient whole = detail::divide_whole(a, b, a.location);
    if (whole.is_above.is_poison()) return whole.is_above;
    return at(whole.quotient) - cast(whole.is_above, i32, a.location);
}

/// a - b ⌊a / b⌋, which has the sign of b, of i32 and of floats (PyTorch's, Python's %).
template <class = void>
constexpr Tensor remainder(Operand a, Operand b) {
    const detail::At at{a.location};
    b.location = a.location;
    if (!detail::is_of_whole_numbers(a, b)) {
        Tensor whole = floor_divide(a, b);
        if (whole.is_poison()) return whole;
        return binary(Elementwise::sub, a, at(binary(Elementwise::mul, at(whole), b)));
    }
    const detail::WholeQuotient whole = detail::divide_whole(a, b, a.location);
    if (whole.is_above.is_poison()) return whole.is_above;
    return where(whole.is_above, at(binary(Elementwise::add, at(whole.rest), b)), at(whole.rest));
}
constexpr Tensor operator%(Operand a, Operand b) { return remainder(a, b); }

}  // namespace fovea
