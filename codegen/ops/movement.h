// Ops that move values and compute none: rearrange, broadcast, slice, concat.
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
    std::string_view text;
    std::array<AxisSize, 3> given;
    Location location;
    RearrangeAxes axes{};
    std::array<Symbol, RearrangeAxes::kMax> names{};
    Text why{};

    constexpr const Dim* size_given(Symbol name) const {
        for (const AxisSize& axis : given)
            if (axis.name && axis.name == name) return &axis.size;
        return nullptr;
    }
    constexpr void put(Symbol name, const Dim& size) {
        if (axes.count == RearrangeAxes::kMax) {
            why << "the pattern has more than " << RearrangeAxes::kMax << " axes";
            return;
        }
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
            const Dim* size = size_given(name);
            if (!size && unknown >= 0) why << "two axes of a group have no size: give one";
            if (!size) unknown = axes.count;
            if (size && !rest.divisible_by(*size))
                why << name << "=" << *size << " does not divide " << dim << " in " << x.shape();
            if (why.size()) return end;
            if (size) rest = rest / *size;
            put(name, size ? *size : Dim(1));
        }
        if (unknown >= 0) axes.axis[std::size_t(unknown)] = rest;
        else if (!rest.is_one())
            why << "the sizes given do not make up " << dim << " in " << x.shape();
        axes.input_group[std::size_t(input_axis)] = (signed char)(axes.count - first);
        return end + 1;
    }
    constexpr void read_left() {
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
        int used = 0, group = -1;
        bool inside = false;
        for (int i = pattern.arrow() + 1; i < pattern.count; ++i) {
            const PatternToken& token = pattern.tokens[i];
            if (token.kind == PatternToken::Kind::close) {
                inside = false;
                continue;
            }
            if (!inside) axes.output_group[std::size_t(++group)] = 0;
            if (token.kind == PatternToken::Kind::open) inside = true;
            if (token.kind != PatternToken::Kind::axis || !token.name) continue;
            for (int k = 0; k < axes.count; ++k)
                if (names[std::size_t(k)] == token.name)
                    axes.order[std::size_t(used++)] = (signed char)k;
            ++axes.output_group[std::size_t(group)];
        }
        if (used != axes.count) why << "every axis on the left must be on the right, once";
    }
};

}  // namespace detail

/// einops' rearrange: splits, merges and permutes axes; `1` adds or drops an axis of size 1.
/// Sizes of axes inside a group are given where they do not follow.
constexpr Tensor rearrange(Tensor x, const Pattern& pattern, AxisSize a = {}, AxisSize b = {},
                           AxisSize c = {}, Location location = Location::here()) {
    if (x.is_poison()) return x;
    detail::PatternReader reader{x, pattern.parsed, pattern.text, {a, b, c}, location};
    reader.axes.input_group.fill(-1);
    reader.axes.output_group.fill(-1);
    reader.axes.pattern = pattern.text;
    reader.read_left();
    if (!reader.why.size()) reader.read_right();
    if (reader.why.size()) {
        Text text;
        text << "rearrange '" << pattern.text << "': " << reader.why.view();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    return rearrange(x, reader.axes, location);
}

/// Drops axis `axis`, which has size 1.
constexpr Tensor squeeze(Tensor x, int axis, Location location = Location::here()) {
    if (x.is_poison()) return x;
    int dropped = axis < 0 ? axis + x.rank() : axis;
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
    if (x.is_poison()) return x;
    int added = axis < 0 ? axis + x.rank() + 1 : axis;
    RearrangeAxes axes = detail::keep_axes(x.shape());
    for (int i = 0; i <= x.rank(); ++i) axes.output_group[std::size_t(i)] = i == added ? 0 : 1;
    return rearrange(x, axes, location);
}

/// Permutes axes: output axis i is input axis `order[i]`.
constexpr Tensor permute(Tensor x, std::array<signed char, Shape::kMaxRank> order,
                         Location location = Location::here()) {
    if (x.is_poison()) return x;
    RearrangeAxes axes = detail::keep_axes(x.shape());
    for (int i = 0; i < x.rank(); ++i) axes.order[std::size_t(i)] = order[std::size_t(i)];
    return rearrange(x, axes, location);
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

/// x repeated along axes of size 1 and new leading axes, to `shape`; the caller has checked it.
constexpr Tensor broadcast(Tensor x, const Shape& shape, Location location = Location::here()) {
    if (x.is_poison() || x.shape() == shape) return x;
    return make(*x.graph, {.op = Op::broadcast,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location});
}

/// `size` positions of axis `axis`, from `first` on.
constexpr Tensor slice(Tensor x, int axis, const Dim& first, const Dim& size,
                       Location location = Location::here()) {
    if (x.is_poison()) return x;
    int i = axis < 0 ? axis + x.rank() : axis;
    bool ok = i >= 0 && i < x.rank();
    if (ok && x.dim(i).is_static() && first.is_static() && size.is_static())
        ok = first.value() >= 0 && size.value() >= 0 &&
             first.value() + size.value() <= x.dim(i).value();
    if (!ok) {
        Text text;
        text << "cannot slice " << first << " to " << first + size << " of axis " << axis << " of "
             << x.shape();
        x.graph->write_origin(text, x.id);
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
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

/// a, then b, along axis `axis`; their other axes fit.
constexpr Tensor concat(Tensor a, Tensor b, int axis, Location location = Location::here()) {
    if (a.is_poison() || b.is_poison()) return {a.graph, 0};
    Graph& graph = *a.graph;
    Shape shape = a.shape();
    int k = axis < 0 ? axis + shape.rank() : axis;
    bool ok = shape.rank() == b.rank() && k >= 0 && k < shape.rank() && a.dtype() == b.dtype();
    for (int i = 0; ok && i < shape.rank(); ++i) ok = i == k || fits(shape[i], b.shape()[i]);
    if (!ok) {
        Text text;
        text << "cannot concat " << name_of(a.dtype()) << " " << a.shape();
        graph.write_origin(text, a.id);
        text << " and " << name_of(b.dtype()) << " " << b.shape();
        graph.write_origin(text, b.id);
        text << " along axis " << axis;
        return fail(graph, location, graph.common_scope(graph.scope_of(a.id), graph.scope_of(b.id)),
                    text);
    }
    shape[k] = shape[k] + b.shape()[k];
    return make(graph, {.op = Op::concat,
                        .dtype = a.dtype(),
                        .shape = shape,
                        .inputs = inputs_of({a.id, b.id}),
                        .location = location,
                        .axis = k});
}

}  // namespace fovea
