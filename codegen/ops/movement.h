// Ops that move values and compute none: rearrange, broadcast, slice.
#pragma once

#include "codegen/graph/tensor.h"
#include "codegen/ops/pattern.h"
#include "codegen/ops/rearrange_axes.h"

namespace fovea {

/// A size given for an axis of a pattern: `rearrange(x, "b t (h d) -> b h t d", {"h", heads})`.
struct AxisSize {
    Symbol name;
    Dim size;

    constexpr AxisSize() = default;
    constexpr AxisSize(const char* axis, const Dim& value)
        : name(std::string_view(axis)), size(value.without_label()) {}
};

/// The rearrangement `axes` of x; the caller has checked it.
constexpr Tensor rearrange(Tensor x, const RearrangeAxes& axes, Location location) {
    if (x.is_poison()) return x;
    Shape shape;
    const signed char* order = axes.order.values;
    for (int g = 0; g < Shape::kMaxRank && axes.output_group.values[g] >= 0; ++g) {
        const int size = axes.output_group.values[g];
        if (size == 1) {
            shape.push(axes.axis.values[*order++]);
            continue;
        }
        Dim dim(1);
        for (int i = 0; i < size; ++i) dim = dim * axes.axis.values[*order++];
        shape.push(dim);
    }
    const int attribute = int(x.graph->rearranges.size());
    x.graph->rearranges.push_back(axes);
    return make(*x.graph, {.op = Op::rearrange,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .attribute = attribute});
}

namespace detail {

struct KeptAxes {
    RearrangeAxes of_rank[Shape::kMaxRank + 1]{};
};
/// Made once, all but the sizes.
inline constexpr KeptAxes kKeptAxes = [] {
    KeptAxes kept;
    for (int rank = 0; rank <= Shape::kMaxRank; ++rank) {
        RearrangeAxes& axes = kept.of_rank[rank];
        axes.count = rank;
        axes.input_group.fill(-1);
        axes.output_group.fill(-1);
        for (int i = 0; i < rank; ++i) {
            axes.input_group.values[i] = axes.output_group.values[i] = 1;
            axes.order.values[i] = (signed char)i;
        }
    }
    return kept;
}();

/// A rearrangement that keeps x's axes; callers change groups. -1 ends `output_group`.
constexpr RearrangeAxes keep_axes(const Shape& shape) {
    RearrangeAxes axes = kKeptAxes.of_rank[shape.rank()];
    for (int i = 0; i < axes.count; ++i) axes.axis.values[i] = shape[i];
    return axes;
}

/// Reads the sizes of the axes that a pattern splits x into.
struct PatternReader {
    Tensor x;
    const PatternAxes& pattern;
    const AxisSize* given;  // kMostSizes of them; the unused ones have no name
    RearrangeAxes axes;
    const Dim* wanted[RearrangeAxes::kMax]{};  // the size given for an axis, if any
    Text why{};

    static constexpr int kMostSizes = 3;

    constexpr void read() {
        if (pattern.mistake) return write_mistake();
        for (int i = 0; i < kMostSizes && !why.size(); ++i)
            if (given[i].name) take(given[i]);
        if (!why.size() && pattern.rank != x.rank())
            why << "the pattern does not have the rank of " << x.shape();
        int axis = 0;
        for (int i = 0; i < pattern.rank && !why.size(); ++i) {
            const int size = axes.input_group.values[i];
            if (pattern.is_group[i]) read_group(axis, size, x.shape()[i]);
            else if (size) put(axis, x.shape()[i]);
            else if (!x.shape()[i].is_one())
                why << "the pattern has 1 where " << x.shape() << " has " << x.shape()[i];
            axis += size;
        }
    }

  private:
    constexpr void write_mistake() {
        if (pattern.mistaken) why << "axis " << pattern.mistaken << " ";
        why << pattern.mistake;
    }
    constexpr void take(const AxisSize& size) {
        const int number = pattern.number_of(size.name);
        if (number < 0) why << "a size is given for " << size.name << ", which is not on the left";
        else if (!wanted[number]) wanted[number] = &size.size;
    }
    constexpr void put(int axis, const Dim& size) {
        axes.axis.values[axis] = size;
        if (wanted[axis] && !(*wanted[axis] == size))
            why << "axis " << pattern.names[axis] << " is " << size << " in " << x.shape()
                << ", not " << *wanted[axis];
    }
    /// The axes from `first` on, `count` of them, that make up `dim`: `(h d)`.
    constexpr void read_group(int first, int count, const Dim& dim) {
        Dim rest = dim.without_label();
        int unknown = -1;
        for (int i = first; i < first + count && !why.size(); ++i) {
            const Dim* size = wanted[i];
            if (!size && unknown >= 0) why << "two axes of a group have no size: give one";
            if (!size) unknown = i;
            if (size && size->mistake() != DimMistake::none) size->write_mistake(why);
            else if (size && !rest.divisible_by(*size))
                why << pattern.names[i] << "=" << *size << " does not divide " << dim << " in "
                    << x.shape();
            if (why.size() || !size) continue;
            rest = rest / *size;
            axes.axis.values[i] = *size;
        }
        if (unknown >= 0) axes.axis.values[unknown] = rest;
        else if (!why.size() && !rest.is_one())
            why << "the sizes given do not make up " << dim << " in " << x.shape();
    }
};

/// Refuses a movement of x: `what` it was, and why not.
constexpr Tensor movement_mistake(Tensor x, const Text& what, Location location) {
    Text text = what;
    x.graph->write_origin(text, x.id);
    return fail(*x.graph, location, x.graph->scope_of(x.id), text);
}
/// The same for an axis that x does not have.
constexpr Tensor no_such_axis(Tensor x, const char* op, int axis, Location location) {
    Text text;
    text << op << ": there is no axis " << axis << " in " << x.shape();
    return movement_mistake(x, text, location);
}

}  // namespace detail

/// einops' rearrange: splits, merges and permutes axes; `1` adds or drops an axis of size 1.
/// Sizes of axes inside a group are given where they do not follow.
constexpr Tensor rearrange(Tensor x, const Pattern& pattern, AxisSize a = {}, AxisSize b = {},
                           AxisSize c = {}, Location location = Location::here()) {
    if (!is_usable("rearrange", location, {x})) return poison_of({x});
    const AxisSize given[detail::PatternReader::kMostSizes] = {a, b, c};
    const ParsedPattern& parsed = read_pattern(pattern, x.rank());
    const PatternAxes& axes = parsed.rearrangement;
    detail::PatternReader reader{x, axes, given, axes.axes};
    reader.axes.pattern = pattern.text;
    if (parsed.mistake == PatternMistake::none) reader.read();
    else reader.why << text_of(parsed.mistake);
    if (reader.why.size()) {
        Text text;
        text << "rearrange '" << pattern.text << "': " << reader.why.view();
        return detail::movement_mistake(x, text, location);
    }
    return rearrange(x, reader.axes, location);
}

/// Drops axis `axis`, which has size 1.
constexpr Tensor squeeze(Tensor x, int axis, Location location = Location::here()) {
    if (!is_usable("squeeze", location, {x})) return poison_of({x});
    int dropped = axis < 0 ? axis + x.rank() : axis;
    if (dropped < 0 || dropped >= x.rank())
        return detail::no_such_axis(x, "squeeze", axis, location);
    if (!x.dim(dropped).is_one()) {
        Text text;
        text << "squeeze: axis " << axis << " of " << x.shape() << " is " << x.dim(dropped)
             << ", not 1";
        return detail::movement_mistake(x, text, location);
    }
    RearrangeAxes axes = detail::keep_axes(x.shape());
    axes.count = 0;
    axes.input_group[std::size_t(dropped)] = 0;
    for (int i = 0; i < x.rank(); ++i) {
        if (i == dropped) continue;
        axes.order[std::size_t(axes.count)] = (signed char)axes.count;
        axes.axis[std::size_t(axes.count++)] = x.shape()[i];
    }
    axes.output_group[std::size_t(x.rank() - 1)] = -1;
    return rearrange(x, axes, location);
}

/// Adds an axis of size 1 before axis `axis` (at the end for `axis == rank`).
constexpr Tensor unsqueeze(Tensor x, int axis, Location location = Location::here()) {
    if (!is_usable("unsqueeze", location, {x})) return poison_of({x});
    int added = axis < 0 ? axis + x.rank() + 1 : axis;
    if (added < 0 || added > x.rank()) {
        Text text;
        text << "unsqueeze: a new axis of " << x.shape() << " is from " << -x.rank() - 1 << " to "
             << x.rank() << ", not " << axis;
        return detail::movement_mistake(x, text, location);
    }
    if (x.rank() == Shape::kMaxRank) {
        Text text;
        text << "unsqueeze of " << x.shape() << ": a tensor has at most " << Shape::kMaxRank
             << " axes";
        return detail::movement_mistake(x, text, location);
    }
    RearrangeAxes axes = detail::keep_axes(x.shape());
    for (int i = 0; i <= x.rank(); ++i) axes.output_group[std::size_t(i)] = i == added ? 0 : 1;
    return rearrange(x, axes, location);
}

/// Permutes axes: output axis i is input axis `order[i]`.
constexpr Tensor permute(Tensor x, FixedArray<signed char, Shape::kMaxRank> order,
                         Location location = Location::here()) {
    if (!is_usable("permute", location, {x})) return poison_of({x});
    RearrangeAxes axes = detail::keep_axes(x.shape());
    int seen = 0;
    for (int i = 0; i < x.rank(); ++i) {
        const int from = order[std::size_t(i)];
        axes.order[std::size_t(i)] = (signed char)from;
        if (from >= 0 && from < x.rank()) seen |= 1 << from;
    }
    if (seen == (1 << x.rank()) - 1) return rearrange(x, axes, location);
    Text text;
    text << "permute of " << x.shape() << ": the order must name each axis from 0 to "
         << x.rank() - 1 << " once, got";
    for (int i = 0; i < x.rank(); ++i) text << (i ? ", " : " ") << int(order[std::size_t(i)]);
    return detail::movement_mistake(x, text, location);
}

/// The axes from `first` on merged to one; `split_axes` undoes it: `shape` is that before.
Tensor merge_axes(Tensor x, int first);
Tensor split_axes(Tensor x, int first, const Shape& shape);
/// Axes `axis` and `axis` + 1 merged to one; `split_axis` undoes it: their sizes are given.
Tensor merge_with_next(Tensor x, int axis);
Tensor split_axis(Tensor x, int axis, const Dim& outer, const Dim& inner);
/// x with `step` - 1 zeros behind each position of an axis, which has `step` times as many then.
Tensor spread_out(Tensor x, int axis, int step);

/// x with axis i at position `positions[i]` of `rank` axes, the others of size 1.
constexpr Tensor place_axes(Tensor x, int rank, std::initializer_list<int> positions,
                            Location location = Location::here()) {
    if (x.is_poison()) return x;
    RearrangeAxes axes = detail::keep_axes(x.shape());
    for (int i = 0; i < rank; ++i) axes.output_group[std::size_t(i)] = 0;
    for (int position : positions) axes.output_group[std::size_t(position)] = 1;
    return rearrange(x, axes, location);
}

/// x repeated along axes of size 1 and new leading axes, to `shape`.
constexpr Tensor broadcast(Tensor x, const Shape& shape, Location location = Location::here()) {
    if (!is_usable("broadcast", location, {x})) return poison_of({x});
    if (x.shape() == shape && fits(x.shape(), shape)) return x;
    bool repeats = x.rank() <= shape.rank() || shape.is_wrong();
    for (int i = 1; repeats && !shape.is_wrong() && i <= x.rank(); ++i)
        repeats = fits(x.shape()[-i], shape[-i]) || x.shape()[-i].is_one();
    if (!repeats) {
        Text text;
        text << "cannot broadcast " << x.shape() << " to " << shape << ": only axes of size 1 and "
             << "new leading axes are repeated";
        return detail::movement_mistake(x, text, location);
    }
    return make(*x.graph, {.op = Op::broadcast,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location});
}

namespace detail {

/// `size` positions of axis `i`, from `first` on, `step` apart, which lie within it. A negative
/// step goes towards the first position.
constexpr Tensor slice_in_steps(Tensor x, int i, const Dim& first, const Dim& size, int step,
                                Location location) {
    Shape shape = x.shape();
    shape[i] = size;
    return make(*x.graph, {.op = Op::slice,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .dim = first.without_label(),
                           .axis = i,
                           .stride = step});
}

}  // namespace detail

/// `size` positions of axis `axis`, from `first` on.
constexpr Tensor slice(Tensor x, int axis, const Dim& first, const Dim& size,
                       Location location = Location::here()) {
    if (!is_usable("slice", location, {x})) return poison_of({x});
    const Shape& shape = x.shape();
    const int i = axis < 0 ? axis + shape.rank() : axis;
    if (i < 0 || i >= shape.rank()) return detail::no_such_axis(x, "slice", axis, location);
    const Dim end = first + size;
    if (first.is_negative() || size.is_negative() || (shape[i] - end).is_negative()) {
        Text text;
        text << "cannot slice " << first << " to " << end << " of axis " << axis << " of "
             << x.shape();
        return detail::movement_mistake(x, text, location);
    }
    return detail::slice_in_steps(x, i, first, size, 1, location);
}

/// `size` positions of axis `axis`, from `first` on, `step` apart: PyTorch's
/// x[first : first + step * size : step].
template <class = void>
constexpr Tensor slice(Tensor x, int axis, const Dim& first, const Dim& size, int step,
                       Location location = Location::here()) {
    if (!is_usable("slice", location, {x})) return poison_of({x});
    const Shape& shape = x.shape();
    const int i = axis < 0 ? axis + shape.rank() : axis;
    if (i < 0 || i >= shape.rank()) return detail::no_such_axis(x, "slice", axis, location);
    if (step < 1) {
        Text text;
        text << "slice of axis " << axis << " of " << x.shape() << ": a step is 1 or more, not "
             << step;
        return detail::movement_mistake(x, text, location);
    }
    const Dim last = size.is_zero() ? first - Dim(1) : first + (size - Dim(1)) * Dim(step);
    if (first.is_negative() || size.is_negative() || (shape[i] - last - Dim(1)).is_negative()) {
        Text text;
        text << "cannot slice " << size << " positions from " << first << " on, " << step
             << " apart, of axis " << axis << " of " << x.shape();
        return detail::movement_mistake(x, text, location);
    }
    return detail::slice_in_steps(x, i, first, size, step, location);
}

}  // namespace fovea
