// Axes merged to one, and one split into several: PyTorch's functions of their names.
#pragma once

#include "codegen/ops/composed/composed.h"
#include "codegen/ops/movement.h"

namespace fovea {

/// The axes from `first` to `last` merged to one; of no axes, one of size 1.
template <class = void>
constexpr Tensor flatten(Tensor x, int first = 0, int last = -1,
                         Location location = Location::here()) {
    if (!is_usable("flatten", location, {x})) return poison_of({x});
    if (x.rank() == 0) return unsqueeze(x, 0, location);
    const int begin = first < 0 ? first + x.rank() : first;
    const int end = last < 0 ? last + x.rank() : last;
    if (begin < 0 || end >= x.rank() || begin > end) {
        Text text;
        text << "flatten: there are no axes from " << first << " to " << last << " in "
             << x.shape();
        return detail::movement_mistake(x, text, location);
    }
    RearrangeAxes axes = detail::keep_axes(x.shape());
    axes.output_group.fill(-1);
    for (int i = 0; i < x.rank() - (end - begin); ++i)
        axes.output_group.values[i] = i == begin ? (signed char)(end - begin + 1) : 1;
    return rearrange(x, axes, location);
}

/// Axis `axis` split into axes of these sizes, whose product it is.
template <class = void>
constexpr Tensor unflatten(Tensor x, int axis, const Shape& sizes,
                           Location location = Location::here()) {
    if (!is_usable("unflatten", location, {x})) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "unflatten", axis, location);
    Dim product = 1;
    for (const Dim& size : sizes) product = product * size.without_label();
    const bool has_room = x.rank() - 1 + sizes.rank() <= Shape::kMaxRank;
    if (sizes.is_wrong() || !has_room || !(product == x.dim(i).without_label())) {
        Text text;
        text << "unflatten: axis " << axis << " of " << x.shape() << " is no product of " << sizes;
        if (!has_room) text << ", as a tensor of at most " << Shape::kMaxRank << " axes";
        return detail::movement_mistake(x, text, location);
    }
    Shape shape;
    for (int k = 0; k < i; ++k) shape.push(x.shape()[k]);
    for (const Dim& size : sizes) shape.push(size);
    for (int k = i + 1; k < x.rank(); ++k) shape.push(x.shape()[k]);
    RearrangeAxes axes = detail::keep_axes(shape);
    axes.input_group.fill(-1);
    for (int k = 0; k < x.rank(); ++k)
        axes.input_group.values[k] = k == i ? (signed char)sizes.rank() : 1;
    return rearrange(x, axes, location);
}

}  // namespace fovea
