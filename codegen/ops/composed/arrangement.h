// Parts beside each other, copies and cuts: PyTorch's functions of their names, made of movements.
#pragma once

#include <array>

#include "codegen/ops/composed/composed.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/gather.h"

namespace fovea {

/// Tensors of one shape along a new axis `axis`.
template <class = void>
constexpr Tensor stack(std::span<const Tensor> parts, int axis = 0,
                       Location location = Location::here()) {
    if (parts.empty()) detail::refuse_empty("stack", location);
    const Tensor first = parts.front();
    if (!is_usable("stack", location, {first})) return poison_of({first});
    const int at = axis < 0 ? axis + first.rank() + 1 : axis;
    if (at < 0 || at > first.rank()) return detail::no_such_axis(first, "stack", axis, location);
    std::vector<Tensor> rows;
    for (const Tensor& part : parts) {
        if (!is_usable("stack", location, {first, part})) return poison_of({first, part});
        if (!fits(first.shape(), part.shape()))
            return detail::cannot_place("stack", first, part, location);
        rows.push_back(unsqueeze(part, at, location));
        if (rows.back().is_poison()) return rows.back();
    }
    return concat(std::span<const Tensor>(rows), at, location);
}

template <class = void>
constexpr Tensor stack(std::initializer_list<Tensor> parts, int axis = 0,
                       Location location = Location::here()) {
    return stack(std::span(parts.begin(), parts.size()), axis, location);
}

/// Parts of axis `axis`, one behind the other, whose sizes make it up: `split(x, {q, k, v}, -1)`.
template <std::size_t Count>
constexpr std::array<Tensor, Count> split(Tensor x, const Dim (&sizes)[Count], int axis,
                                          Location location = Location::here()) {
    std::array<Tensor, Count> parts;
    parts.fill(poison_of({x}));
    if (!is_usable("split", location, {x})) return parts;
    const int i = axis < 0 ? axis + x.rank() : axis;
    Dim total = 0;
    for (const Dim& size : sizes) total = total + size.without_label();
    const bool is_there = i >= 0 && i < x.rank();
    if (!is_there || !(x.dim(i).without_label() == total)) {
        Text text;
        text << "split: the parts have " << total << " positions of axis " << axis << " of "
             << x.shape();
        Tensor wrong = is_there ? detail::movement_mistake(x, text, location)
                                : detail::no_such_axis(x, "split", axis, location);
        parts.fill(wrong);
        return parts;
    }
    Dim first = 0;
    for (std::size_t k = 0; k < Count; ++k) {
        parts[k] = slice(x, i, first, sizes[k], location);
        first = first + sizes[k].without_label();
    }
    return parts;
}

/// `Count` parts of axis `axis` of the same size: `auto [q, k, v] = chunk<3>(x, -1)`.
template <std::size_t Count>
constexpr std::array<Tensor, Count> chunk(Tensor x, int axis,
                                          Location location = Location::here()) {
    std::array<Tensor, Count> parts;
    parts.fill(poison_of({x}));
    if (!is_usable("chunk", location, {x})) return parts;
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) {
        parts.fill(detail::no_such_axis(x, "chunk", axis, location));
        return parts;
    }
    const Dim count(std::int64_t{Count}), whole = x.dim(i).without_label();
    if (!whole.divisible_by(count)) {
        Text text;
        text << "chunk: " << count << " does not divide axis " << axis << " of " << x.shape();
        parts.fill(detail::movement_mistake(x, text, location));
        return parts;
    }
    const Dim size = whole / count;
    for (std::size_t k = 0; k < Count; ++k)
        parts[k] = slice(x, i, size * Dim(std::int64_t(k)), size, location);
    return parts;
}

namespace detail {

/// x with axis `axis` first, the others in their order, or back again.
constexpr Tensor axis_first(Tensor x, int axis, bool back, Location location) {
    if (x.is_poison()) return x;
    FixedArray<signed char, Shape::kMaxRank> order{};
    for (int i = 0, next = 0; i < x.rank(); ++i) {
        const int other = i == axis ? 0 : ++next;
        order.values[back ? i : other] = (signed char)(back ? other : i);
    }
    return permute(x, order, location);
}

/// x with `count` copies along a new axis, before or behind axis `axis`, merged with it.
constexpr Tensor repeated(Tensor x, int axis, int place, const Dim& count, Location location) {
    Tensor row = unsqueeze(x, place, location);
    if (row.is_poison()) return row;
    Shape shape = row.shape();
    shape[place] = count;
    Tensor copies = broadcast(row, shape, location);
    if (copies.is_poison()) return copies;
    RearrangeAxes axes = keep_axes(shape);
    axes.output_group.fill(-1);
    for (int i = 0; i < x.rank(); ++i) axes.output_group.values[i] = i == axis ? 2 : 1;
    return rearrange(copies, axes, location);
}
constexpr Tensor repeated(const char* name, Tensor x, int axis, const Dim& count, bool each,
                          Location location) {
    if (!is_usable(name, location, {x})) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return no_such_axis(x, name, axis, location);
    return repeated(x, i, each ? i + 1 : i, count, location);
}

}  // namespace detail

/// `count` copies of x one behind the other along axis `axis` (PyTorch's tile of one axis).
template <class = void>
constexpr Tensor tile(Tensor x, int axis, const Dim& count, Location location = Location::here()) {
    return detail::repeated("tile", x, axis, count, false, location);
}
/// Every position of axis `axis` `count` times.
template <class = void>
constexpr Tensor repeat_interleave(Tensor x, int axis, const Dim& count,
                                   Location location = Location::here()) {
    return detail::repeated("repeat_interleave", x, axis, count, true, location);
}

/// x with the positions of axis `axis` from the last to the first.
template <class = void>
constexpr Tensor flip(Tensor x, int axis, Location location = Location::here()) {
    if (!is_usable("flip", location, {x})) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "flip", axis, location);
    const detail::At at{location};
    const Dim size = x.dim(i).without_label();
    Tensor ids = at(size - Dim(1)) - iota(*x.graph, {size}, 0, location);
    Tensor rows = gather(detail::axis_first(x, i, false, location), ids, location);
    return detail::axis_first(rows, i, true, location);
}

namespace detail {

constexpr Tensor triangle(const char* name, Tensor x, int diagonal, bool upper, Location location) {
    if (!is_usable(name, location, {x})) return poison_of({x});
    if (x.rank() < 2) {
        Text text;
        text << name << ": expected [..., rows, columns], got " << x.shape();
        return movement_mistake(x, text, location);
    }
    const At at{location};
    Tensor row = iota(*x.graph, {x.dim(-2).without_label(), 1}, 0, location);
    Tensor column = iota(*x.graph, {1, x.dim(-1).without_label()}, 1, location);
    Tensor above = at(column) - row;
    Tensor stays = upper ? at(above) >= diagonal : at(above) <= diagonal;
    return where(stays, at(x), 0);
}

}  // namespace detail

/// The last two axes with zeros below (`triu`) or above (`tril`) the diagonal, or that one which is
/// so many above it (below for negative ones).
template <class = void>
constexpr Tensor triu(Tensor x, int diagonal = 0, Location location = Location::here()) {
    return detail::triangle("triu", x, diagonal, true, location);
}
template <class = void>
constexpr Tensor tril(Tensor x, int diagonal = 0, Location location = Location::here()) {
    return detail::triangle("tril", x, diagonal, false, location);
}

/// 1 at the position of the id and 0 elsewhere, along a new last axis of `classes`; zeros for ids
/// that are none of them.
template <class = void>
constexpr Tensor one_hot(Tensor ids, const Dim& classes, DType type = f32,
                         Location location = Location::here()) {
    if (!is_usable("one_hot", location, {ids})) return poison_of({ids});
    if (ids.dtype() != i32) {
        Text text;
        text << "one_hot: expected i32 ids, got " << name_of(ids.dtype()) << " " << ids.shape();
        return detail::movement_mistake(ids, text, location);
    }
    const detail::At at{location};
    Tensor id = unsqueeze(ids, -1, location);
    if (id.is_poison()) return id;
    Tensor is_there = eq(at(id), at(iota(*ids.graph, {classes}, 0, location)));
    return cast(is_there, type, location);
}

}  // namespace fovea
