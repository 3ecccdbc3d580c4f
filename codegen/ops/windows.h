// Overlapping windows of an axis, as a view, and the sum that puts them back.
#pragma once

#include "codegen/ops/movement.h"

namespace fovea {

struct WindowOptions {
    int stride = 1;    // positions from one window to the next
    int dilation = 1;  // positions from one element of a window to the next
};

namespace detail {

/// The positions that a window covers, with those between its elements.
constexpr std::int64_t covered_by(int size, const WindowOptions& options) {
    return (std::int64_t(size) - 1) * options.dilation + 1;
}

/// What steps of `stride` leave of `rest` positions, where it is the same for all sizes; else -1.
constexpr std::int64_t left_by_steps(const Dim& rest, int stride) {
    if (rest.is_static()) return rest.value() % stride;
    for (std::int64_t left = 0; left < stride; ++left)
        if ((rest - Dim(left)).divisible_by(Dim(stride))) return left;
    return -1;
}

/// Says what is wrong with windows of axis `axis`, which x has at `i`; false where nothing is.
/// `op`: the function that a model calls.
constexpr bool has_no_windows(const char* op, Tensor x, int axis, int i, int size,
                              const WindowOptions& options, Location location) {
    Text text;
    if (size < 1 || options.stride < 1 || options.dilation < 1) {
        text << op << " of axis " << axis << " of " << x.shape() << ": a window of " << size
             << ", a stride of " << options.stride << ", a dilation of " << options.dilation
             << ": each is 1 or more";
        movement_mistake(x, text, location);
        return true;
    }
    const std::int64_t covered = covered_by(size, options);
    const Dim rest = x.shape()[i].without_label() - Dim(covered);
    if (rest.is_negative()) {
        text << op << ": a window of " << size << " covers " << covered << " positions, and axis "
             << axis << " of " << x.shape() << " has " << x.shape()[i].without_label();
        movement_mistake(x, text, location);
        return true;
    }
    if (left_by_steps(rest, options.stride) < 0) {
        text << op << ": axis " << axis << " of " << x.shape() << " has (" << rest << ") / "
             << options.stride << " + 1 windows, which is not whole for all sizes: give it one "
             << "such as Dim(\"half\") * " << options.stride;
        movement_mistake(x, text, location);
        return true;
    }
    return false;
}

/// How many windows of `covered` positions an axis of `size` has.
constexpr Dim count_windows(const Dim& size, std::int64_t covered, int stride) {
    const Dim rest = size.without_label() - Dim(covered);
    return (rest - Dim(left_by_steps(rest, stride))) / Dim(stride) + Dim(1);
}

/// The windows of axis `i`, which are there.
constexpr Tensor windows_of(Tensor x, int i, int size, const WindowOptions& options,
                            Location location) {
    if (size == 1 && options.stride == 1) return unsqueeze(x, i + 1, location);
    Shape shape;
    for (int k = 0; k < x.rank(); ++k) {
        const std::int64_t covered = covered_by(size, options);
        shape.push(k == i ? count_windows(x.shape()[k], covered, options.stride) : x.shape()[k]);
        if (k == i) shape.push(Dim(size));
    }
    return make(*x.graph, {.op = Op::windows,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .axis = i,
                           .stride = options.stride,
                           .dilation = options.dilation});
}

}  // namespace detail

/// Windows of `size` elements of axis `axis`, which becomes two: [..., n, ...] → [..., positions,
/// size, ...] with positions = (n - (size - 1) * dilation - 1) / stride + 1, rounded down; what is
/// left at the end is in no window. Element (p, j) is that at p * stride + j * dilation; nothing
/// is copied. What is left of a symbolic axis must be the same for all sizes.
template <class = void>
constexpr Tensor windows(Tensor x, int axis, int size, WindowOptions options = {},
                         Location location = Location::here()) {
    if (!is_usable("windows", location, {x})) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "windows", axis, location);
    if (x.rank() == Shape::kMaxRank) {
        Text text;
        text << "windows of " << x.shape() << ": a tensor has at most " << Shape::kMaxRank
             << " axes";
        return detail::movement_mistake(x, text, location);
    }
    if (detail::has_no_windows("windows", x, axis, i, size, options, location)) return {x.graph, 0};
    return detail::windows_of(x, i, size, options, location);
}

/// The same with the axis of the windows' elements behind all others: PyTorch's unfold.
template <class = void>
constexpr Tensor unfold(Tensor x, int axis, int size, int step,
                        Location location = Location::here()) {
    Tensor y = windows(x, axis, size, {.stride = step}, location);
    if (y.is_poison()) return y;
    const int i = axis < 0 ? axis + x.rank() : axis;
    FixedArray<signed char, Shape::kMaxRank> order{};
    for (int k = 0; k < y.rank(); ++k)
        order.values[k] = (signed char)(k <= i ? k : k + 1 < y.rank() ? k + 1 : i + 1);
    return permute(y, order, location);
}

/// The reverse of `windows`: axes `axis`, of positions, and the next, of the windows' elements,
/// become one of `size`, at which the elements that stand at the same position are added up.
/// x must be as `windows` of such an axis gives it.
Tensor sum_windows(Tensor x, int axis, const Dim& size, const WindowOptions& options);

}  // namespace fovea
