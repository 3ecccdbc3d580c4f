// Elements chosen by position or by size: PyTorch's functions of their names.
#pragma once

#include "codegen/ops/composed/arrangement.h"
#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/composed/statistics.h"

namespace fovea {

namespace detail {

/// Whether `ids` may take the place of an axis of x.
constexpr bool may_select(Tensor x, Tensor ids, Location location) {
    const bool has_room = x.rank() - 1 + ids.rank() <= Shape::kMaxRank;
    if (ids.dtype() == i32 && has_room) return true;
    Text text;
    text << "index_select of " << x.shape() << ": expected i32 ids, got " << name_of(ids.dtype())
         << " " << ids.shape();
    ids.graph->write_origin(text, ids.id);
    if (!has_room) text << ", with which the result has more than " << Shape::kMaxRank << " axes";
    fail(*ids.graph, location, ids.graph->scope_of(ids.id), text);
    return false;
}

}  // namespace detail

/// The positions `ids` (i32, any shape) of axis `axis`, whose place their axes take.
template <class = void>
constexpr Tensor index_select(Tensor x, int axis, Tensor ids,
                              Location location = Location::here()) {
    if (!is_usable("index_select", location, {x, ids})) return poison_of({x, ids});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "index_select", axis, location);
    if (!detail::may_select(x, ids, location)) return {x.graph, 0};
    Tensor rows = gather(detail::axis_first(x, i, false, location), ids, location);
    if (rows.is_poison()) return rows;
    FixedArray<signed char, Shape::kMaxRank> order{};
    for (int k = 0; k < rows.rank(); ++k) {
        const bool is_id = k >= i && k < i + ids.rank();
        order.values[k] = (signed char)(is_id ? k - i : k < i ? k + ids.rank() : k);
    }
    return permute(rows, order, location);
}

namespace detail {

/// Whether `ids` can choose along axis `i` of a tensor of this shape: they have its axes otherwise.
constexpr bool chooses_along(const char* op, const Shape& shape, int i, Tensor ids,
                             Location location) {
    bool fit = ids.dtype() == i32 && ids.rank() == shape.rank();
    for (int k = 0; fit && k < shape.rank(); ++k) fit = k == i || fits(ids.shape()[k], shape[k]);
    if (fit) return true;
    Text text;
    text << op << " along axis " << i << " of " << shape << ": expected i32 ids of its axes but "
         << i << ", got " << name_of(ids.dtype()) << " " << ids.shape();
    ids.graph->write_origin(text, ids.id);
    fail(*ids.graph, location, ids.graph->scope_of(ids.id), text);
    return false;
}

/// Where the elements that `ids` choose along axis `i` of a tensor of this shape lie in it, row
/// after row: [ids...].
constexpr Tensor flat_places(const Shape& shape, int i, Tensor ids, Location location) {
    const At at{location};
    const Dim size = shape[i].without_label();
    // Looked up among themselves, ids are checked against the axis.
    Tensor place = gather(iota(*ids.graph, {size}, 0, location), ids, location);
    Dim behind = 1;
    for (int k = shape.rank(); --k > i;) behind = behind * shape[k].without_label();
    place = at(place) * behind;
    Dim stride = 1;
    for (int k = shape.rank(); k-- > 0;) {
        if (k != i)
            place =
                at(place) +
                at(positions_along(*ids.graph, ids.shape()[k], k, shape.rank(), location)) * stride;
        stride = stride * shape[k].without_label();
    }
    return place;
}

}  // namespace detail

/// For each of the `ids` (i32) the element at that position of axis `axis`, and else where the id
/// stands itself: y[i, j] = x[ids[i, j], j] for axis 0 of two (PyTorch's take_along_dim, and its
/// gather). Tensors of at most 2^31 elements.
template <class = void>
constexpr Tensor take_along_dim(Tensor x, Tensor ids, int axis,
                                Location location = Location::here()) {
    if (!is_usable("take_along_dim", location, {x, ids})) return poison_of({x, ids});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "take_along_dim", axis, location);
    if (!detail::chooses_along("take_along_dim", x.shape(), i, ids, location)) return {x.graph, 0};
    Tensor places = detail::flat_places(x.shape(), i, ids, location);
    return gather(flatten(x, 0, -1, location), places, location);
}

/// x, with the `values` added where the `ids` choose along axis `axis`: the reverse of
/// `take_along_dim` (PyTorch's scatter_add).
template <class = void>
constexpr Tensor scatter_add(Tensor x, int axis, Tensor ids, Tensor values,
                             Location location = Location::here()) {
    if (!is_usable("scatter_add", location, {x, ids, values})) return poison_of({x, ids, values});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "scatter_add", axis, location);
    if (!detail::chooses_along("scatter_add", x.shape(), i, ids, location)) return {x.graph, 0};
    Tensor places = detail::flat_places(x.shape(), i, ids, location);
    Dim size = 1;
    for (const Dim& dim : x.shape()) size = size * dim.without_label();
    Tensor sums = scatter_add(values, places, size, location);
    return detail::At{location}(x) + unflatten(sums, 0, x.shape(), location);
}

/// What `topk` and `sort` give: the values, and where they stood.
struct Ranked {
    Tensor values, ids;
};

/// The `count` largest values of axis `axis`, the largest first, and their positions (i32); of
/// equal ones the first, and NaN before all: `auto [values, ids] = topk(x, 2, -1)`. Each value
/// costs a pass. A program refuses sizes with fewer values than that.
template <class = void>
constexpr Ranked topk(Tensor x, int count, int axis = -1, Location location = Location::here()) {
    const Ranked none{poison_of({x}), poison_of({x})};
    if (!detail::has_float_axis("topk", x, axis, location)) return none;
    const int i = axis < 0 ? axis + x.rank() : axis;
    const Dim size = x.dim(i);
    if (count < 1 || (size.is_static() && size.value() < count)) {
        Text text;
        if (count < 1)
            text << "topk: " << count << " values are asked for, it should be one or more";
        else
            text << "topk: axis " << axis << " of " << x.shape() << " has fewer than " << count
                 << " values";
        const Tensor wrong = detail::movement_mistake(x, text, location);
        return {wrong, wrong};
    }
    detail::has_positions(x, i, count, location);
    const detail::At at{location};
    Tensor position = detail::positions_along(*x.graph, x.shape()[i], i, x.rank(), location), left;
    std::vector<Tensor> values, ids;
    for (int n = 0; n < count; ++n) {
        Tensor rest = x;
        if (n > 0) rest = where(left, at(x), at(-std::numeric_limits<double>::infinity()));
        Tensor is_largest = detail::is_largest_of(rest, i, location);
        if (n > 0) is_largest = logical_and(at(is_largest), at(left));
        ids.push_back(detail::first_position(is_largest, i, true, location));
        Tensor chosen = eq(at(position), at(ids.back()));
        values.push_back(sum(where(chosen, at(x), at(0.0)), i, true, location));
        Tensor others = logical_not(chosen, location);
        left = n > 0 ? logical_and(at(left), at(others)) : others;
    }
    return {concat(std::span<const Tensor>(values), i, location),
            concat(std::span<const Tensor>(ids), i, location)};
}
/// The same of a number that is written out: `topk<2>(x)`.
template <int Count>
constexpr Ranked topk(Tensor x, int axis = -1, Location location = Location::here()) {
    static_assert(Count > 0, "topk: one value or more");
    return topk(x, Count, axis, location);
}

/// The values of axis `axis` in ascending order, and their positions (i32); equal ones as they
/// stand, and NaN behind all. Each value is compared with each other.
template <class = void>
constexpr Ranked sort(Tensor x, int axis = -1, bool descending = false,
                      Location location = Location::here()) {
    const Ranked none{poison_of({x}), poison_of({x})};
    if (!detail::has_float_axis("sort", x, axis, location)) return none;
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (x.rank() == Shape::kMaxRank) {
        Text text;
        text << "sort: " << x.shape() << " has " << Shape::kMaxRank
             << " axes, and one more is needed";
        const Tensor wrong = detail::movement_mistake(x, text, location);
        return {wrong, wrong};
    }
    const detail::At at{location};
    // One value along axis i, the others along the axis behind it.
    Tensor one = unsqueeze(x, i + 1, location), other = unsqueeze(x, i, location);
    const Dim size = x.shape()[i];
    const int axes = x.rank() + 1;
    Tensor place = detail::positions_along(*x.graph, size, i, axes, location);
    Tensor other_place = detail::positions_along(*x.graph, size, i + 1, axes, location);
    Tensor is_before = descending ? at(other) > at(one) : at(other) < at(one);
    Tensor one_is_none = logical_not(eq(at(one), at(one)), location);
    Tensor other_is_none = logical_not(eq(at(other), at(other)), location);
    Tensor one_of_two = descending ? logical_and(at(other_is_none), at(eq(at(one), at(one))))
                                   : logical_and(at(one_is_none), at(eq(at(other), at(other))));
    Tensor both_are_none = logical_and(at(one_is_none), at(other_is_none));
    Tensor is_same = logical_or(at(eq(at(one), at(other))), at(both_are_none));
    Tensor is_earlier = logical_and(at(is_same), at(at(other_place) < at(place)));
    Tensor is_ahead = logical_or(at(logical_or(at(is_before), at(one_of_two))), at(is_earlier));
    Tensor rank = cast(sum(cast(is_ahead, f32, location), i + 1, true, location), i32, location);
    // The value whose rank is that of the axis behind.
    Tensor chosen = eq(at(rank), at(other_place));
    Tensor values = sum(where(chosen, at(one), at(0.0)), i, false, location);
    Tensor places = where(chosen, at(cast(place, f32, location)), at(0.0));
    return {values, cast(sum(places, i, false, location), i32, location)};
}

}  // namespace fovea
