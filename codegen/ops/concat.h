// Values beside each other, and zeros beside a value.
#pragma once

#include <span>

#include "codegen/ops/movement.h"

namespace fovea {

namespace detail {

/// Refuses to put `part` beside `first`, by `op`.
constexpr Tensor cannot_place(const char* op, Tensor first, Tensor part, Location location,
                              std::string_view where = "") {
    Graph& graph = *first.graph;
    Text text;
    text << "cannot " << op << " " << name_of(first.dtype()) << " " << first.shape();
    graph.write_origin(text, first.id);
    text << " and " << name_of(part.dtype()) << " " << part.shape();
    graph.write_origin(text, part.id);
    text << where;
    return fail(graph, location,
                graph.common_scope(graph.scope_of(first.id), graph.scope_of(part.id)), text);
}
/// The same along axis `axis`.
constexpr Tensor cannot_concat(Tensor first, Tensor part, int axis, Location location) {
    Text where;
    where << " along axis " << axis;
    return cannot_place("concat", first, part, location, where.view());
}

}  // namespace detail

/// The parts, one behind the other along axis `axis`; their other axes fit.
constexpr Tensor concat(std::span<const Tensor> parts, int axis,
                        Location location = Location::here()) {
    if (parts.empty()) detail::refuse_empty("concat", location);
    // Pointers: a span's elements take a compiler more steps.
    const Tensor *const begin = parts.data(), *const end = begin + parts.size();
    const Tensor first = *begin;
    for (const Tensor* part = begin + (parts.size() > 1); part != end; ++part)
        if (!is_usable("concat", location, {first, *part})) return poison_of({first, *part});
    Graph& graph = *first.graph;
    if (parts.size() > kMaxInputs) {
        Text text;
        text << "concat of " << std::int64_t(parts.size()) << " parts: at most "
             << std::int64_t(kMaxInputs) << " are possible";
        return fail(graph, location, graph.scope_of(first.id), text);
    }
    const Node& of_first = first.node();
    const int rank = of_first.shape.rank(), k = axis < 0 ? axis + rank : axis;
    if (k < 0 || k >= rank) return detail::cannot_concat(first, end[-1], axis, location);
    Node node{.op = Op::concat,
              .dtype = of_first.dtype,
              .shape = of_first.shape,
              .location = location,
              .axis = k};
    node.inputs[0] = first.id;
    for (const Tensor* part = begin + 1; part != end; ++part) {
        const Node& of_part = part->node();
        bool ok = rank == of_part.shape.rank() && node.dtype == of_part.dtype;
        for (int i = 0; ok && i < rank; ++i) ok = i == k || fits(node.shape[i], of_part.shape[i]);
        if (!ok) return detail::cannot_concat(first, *part, axis, location);
        node.shape[k] = node.shape[k] + of_part.shape[k];
        node.inputs[std::size_t(part - begin)] = part->id;
    }
    return parts.size() == 1 ? first : make(graph, node);
}
constexpr Tensor concat(std::initializer_list<Tensor> parts, int axis,
                        Location location = Location::here()) {
    return concat(std::span(parts.begin(), parts.size()), axis, location);
}
/// a, then b.
constexpr Tensor concat(Tensor a, Tensor b, int axis, Location location = Location::here()) {
    return concat({a, b}, axis, location);
}

/// `before` zeros, x, and `after` zeros along axis `axis`.
constexpr Tensor pad(Tensor x, int axis, const Dim& before, const Dim& after,
                     Location location = Location::here()) {
    if (!is_usable("pad", location, {x})) return poison_of({x});
    const int i = axis < 0 ? axis + x.rank() : axis;
    if (i < 0 || i >= x.rank()) return detail::no_such_axis(x, "pad", axis, location);
    if (before.is_negative() || after.is_negative()) {
        Text text;
        text << "cannot pad axis " << axis << " of " << x.shape() << " with " << before << " and "
             << after << " zeros";
        return detail::movement_mistake(x, text, location);
    }
    if (before == Dim(0) && after == Dim(0)) return x;
    Shape shape = x.shape();
    shape[i] = before.without_label() + x.dim(i) + after.without_label();
    return make(*x.graph, {.op = Op::pad,
                           .dtype = x.dtype(),
                           .shape = shape,
                           .inputs = inputs_of({x.id}),
                           .location = location,
                           .dim = before.without_label(),
                           .axis = i});
}

}  // namespace fovea
