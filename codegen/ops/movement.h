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
    int at = 0, groups = 0;
    while (groups < Shape::kMaxRank && axes.output_group[std::size_t(groups)] >= 0) ++groups;
    for (int g = 0; g < groups; ++g) {
        int size = axes.output_group[std::size_t(g)];
        Dim dim(1);
        for (int i = 0; i < size; ++i) {
            const Dim& part = axes.axis[std::size_t(axes.order[std::size_t(at++)])];
            dim = size == 1 ? part : dim * part;
        }
        shape.push(dim);
    }
    x.graph->rearranges.push_back(axes);
    return make(*x.graph, {.op = Op::rearrange,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .attribute = int(x.graph->rearranges.size()) - 1});
}

namespace detail {

/// A rearrangement that keeps x's axes; callers change groups. -1 ends `output_group`.
constexpr RearrangeAxes keep_axes(const Shape& shape) {
    RearrangeAxes axes;
    axes.count = shape.rank();
    for (int i = 0; i < Shape::kMaxRank; ++i) {
        bool used = i < shape.rank();
        axes.input_group[std::size_t(i)] = used ? 1 : -1;
        axes.output_group[std::size_t(i)] = used ? 1 : -1;
    }
    for (int i = 0; i < shape.rank(); ++i) {
        axes.axis[std::size_t(i)] = shape[i];
        axes.order[std::size_t(i)] = (signed char)i;
    }
    return axes;
}

struct PatternReader {
    Tensor x;
    const ParsedPattern& pattern;
    std::array<AxisSize, 3> given;
    RearrangeAxes axes{};
    std::array<Symbol, RearrangeAxes::kMax> names{};
    Text why{};

    constexpr const Dim* size_given(Symbol name) const {
        for (const AxisSize& axis : given)
            if (axis.name && axis.name == name) return &axis.size;
        return nullptr;
    }
    constexpr int number_of(Symbol name) const {
        for (int i = 0; i < axes.count; ++i)
            if (names[std::size_t(i)] == name) return i;
        return -1;
    }
    constexpr void put(Symbol name, const Dim& size) {
        if (axes.count == RearrangeAxes::kMax) {
            why << "the pattern has more than " << RearrangeAxes::kMax << " axes";
            return;
        }
        if (name && number_of(name) >= 0) why << "axis " << name << " stands twice on the left";
        const Dim* wanted = size_given(name);
        if (wanted && !(*wanted == size))
            why << "axis " << name << " is " << size << " in " << x.shape() << ", not " << *wanted;
        names[std::size_t(axes.count)] = name;
        axes.axis[std::size_t(axes.count++)] = size;
    }
    /// Reads one group of the left side, `(h d)` or `t`, that makes up `dim`; gives the next token.
    constexpr int read_group(int token, int input_axis, const Dim& dim) {
        bool open = pattern.tokens[token].kind == PatternToken::Kind::open;
        if (!open) {
            Symbol name = pattern.tokens[token].name;
            if (!name && !dim.is_one())
                why << "the pattern has 1 where " << x.shape() << " has " << dim;
            axes.input_group[std::size_t(input_axis)] = name ? 1 : 0;
            if (name) put(name, dim);
            return token + 1;
        }
        Dim rest = dim.without_label();
        int first = axes.count, unknown = -1, end = token + 1;
        for (; pattern.tokens[end].kind != PatternToken::Kind::close; ++end) {
            Symbol name = pattern.tokens[end].name;
            if (!name) continue;  // 1
            const Dim* size = size_given(name);
            if (!size && unknown >= 0) why << "two axes of a group have no size: give one";
            if (!size) unknown = axes.count;
            if (size && size->mistake() != DimMistake::none) size->write_mistake(why);
            else if (size && !rest.divisible_by(*size))
                why << name << "=" << *size << " does not divide " << dim << " in " << x.shape();
            if (why.size()) return end;
            if (size) rest = rest / *size;
            put(name, size ? *size : Dim(1));
            if (why.size()) return end;
        }
        if (unknown >= 0) axes.axis[std::size_t(unknown)] = rest;
        else if (!rest.is_one())
            why << "the sizes given do not make up " << dim << " in " << x.shape();
        axes.input_group[std::size_t(input_axis)] = (signed char)(axes.count - first);
        return end + 1;
    }
    constexpr void read_left() {
        for (const AxisSize& axis : given)
            if (axis.name && !pattern.has_on_the_left(axis.name))
                why << "a size is given for " << axis.name << ", which is not on the left";
        int token = 0, input_axis = 0, end = pattern.arrow();
        while (token < end && !why.size()) {
            if (input_axis == x.rank()) break;
            token = read_group(token, input_axis, x.shape()[input_axis]);
            ++input_axis;
        }
        if (!why.size() && (token < end || input_axis != x.rank()))
            why << "the pattern does not have the rank of " << x.shape();
    }
    constexpr void read_right() {
        int used = 0, group = -1, seen = 0;
        bool inside = false;
        for (int i = pattern.arrow() + 1; i < pattern.count; ++i) {
            const PatternToken& token = pattern.tokens[i];
            if (token.kind == PatternToken::Kind::close) {
                inside = false;
                continue;
            }
            if (!inside && group + 1 == Shape::kMaxRank) {
                why << "a tensor has at most " << Shape::kMaxRank << " axes";
                return;
            }
            if (!inside) axes.output_group[std::size_t(++group)] = 0;
            if (token.kind == PatternToken::Kind::open) inside = true;
            if (token.kind != PatternToken::Kind::axis || !token.name) continue;
            const int number = number_of(token.name);
            if (number < 0 || used == axes.count || (seen >> number & 1)) {
                why << "every axis on the left must be on the right, once";
                return;
            }
            seen |= 1 << number;
            axes.order[std::size_t(used++)] = (signed char)number;
            ++axes.output_group[std::size_t(group)];
        }
        if (used != axes.count) why << "every axis on the left must be on the right, once";
    }
};

/// Refuses a movement of x: `what` it was, and why not.
constexpr Tensor movement_mistake(Tensor x, const Text& what, Location location) {
    Text text = what;
    x.graph->write_origin(text, x.id);
    return fail(*x.graph, location, x.graph->scope_of(x.id), text);
}
/// The same for an axis that x does not have.
constexpr Tensor no_such_axis(Tensor x, std::string_view op, int axis, Location location) {
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
    const ParsedPattern parsed = read_pattern(pattern, {x.rank()});
    detail::PatternReader reader{x, parsed, {a, b, c}};
    reader.axes.input_group.fill(-1);
    reader.axes.output_group.fill(-1);
    reader.axes.pattern = pattern.text;
    reader.why << text_of(parsed.mistake);
    for (int i = 0; i < parsed.count && !reader.why.size(); ++i)
        if (parsed.tokens[i].kind == PatternToken::Kind::comma)
            reader.why << "one tensor has no comma";
    if (!reader.why.size()) reader.read_left();
    if (!reader.why.size()) reader.read_right();
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
constexpr Tensor permute(Tensor x, std::array<signed char, Shape::kMaxRank> order,
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

/// `size` positions of axis `axis`, from `first` on.
constexpr Tensor slice(Tensor x, int axis, const Dim& first, const Dim& size,
                       Location location = Location::here()) {
    if (!is_usable("slice", location, {x})) return poison_of({x});
    int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "slice", axis, location);
    const auto is_negative = [](const Dim& dim) { return dim.is_static() && dim.value() < 0; };
    const Dim end = first + size;
    if (is_negative(first) || is_negative(size) || is_negative(x.dim(i) - end)) {
        Text text;
        text << "cannot slice " << first << " to " << end << " of axis " << axis << " of "
             << x.shape();
        return detail::movement_mistake(x, text, location);
    }
    Shape shape = x.shape();
    shape[i] = size;
    return make(*x.graph, {.op = Op::slice,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .dim = first.without_label(),
                           .axis = i});
}

}  // namespace fovea
