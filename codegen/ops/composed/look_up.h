// Elements of a table by an index for each of its axes.
#pragma once

#include <initializer_list>

#include "codegen/ops/composed/selection.h"

namespace fovea {

namespace detail {

/// Whether these ids can stand for the first axes of a table.
constexpr bool can_look_up(Tensor table, std::initializer_list<Tensor> ids, Location location) {
    Graph& graph = *table.graph;
    Text text;
    int count = 0;
    for (Tensor id : ids) {
        ++count;
        if (!is_usable("at", location, {table, id})) return false;
        if (id.dtype() == i32) continue;
        text << "at: ids of a table are i32, got " << name_of(id.dtype()) << " " << id.shape();
        graph.write_origin(text, id.id);
        fail(graph, location, graph.scope_of(id.id), text);
        return false;
    }
    if (count > 0 && count <= table.rank()) return true;
    text << "at: " << count << " ids for the axes of the table " << table.shape();
    graph.write_origin(text, table.id);
    fail(graph, location, graph.scope_of(table.id), text);
    return false;
}

}  // namespace detail

/// The elements of `table` [a, b, ..., rest...] at `ids` (i32, broadcast together), one for each of
/// the first axes: table[ids[0], ids[1], ...], [of the ids..., rest...] (PyTorch's indexing by
/// tensors). In a score, ids may be any integers of the pair: `at(bias, {p.head, p.j - p.i + 64})`,
/// in range for all sizes. Tables of at most 2^31 elements.
template <class = void>
constexpr Tensor at(Tensor table, std::initializer_list<Tensor> ids,
                    Location location = Location::here()) {
    if (!is_usable("at", location, {table})) return poison_of({table});
    if (!detail::can_look_up(table, ids, location)) return {table.graph, 0};
    bool all_scalars = true;
    for (Tensor id : ids) all_scalars = all_scalars && id.rank() == 0;
    if (all_scalars || ids.size() == 1) {
        for (Tensor id : ids) table = gather(table, id, location);
        return table;
    }
    const detail::At of{location};
    Tensor place;
    int axis = 0;
    for (Tensor id : ids) {
        const Dim size = table.shape()[axis++].without_label();
        // Looked up among themselves, ids are checked against the axis.
        Tensor own = gather(iota(*table.graph, {size}, 0, location), id, location);
        if (place.exists()) {
            Tensor before = binary(Elementwise::mul, of(place), of(size));
            place = binary(Elementwise::add, of(before), of(own));
        } else {
            place = own;
        }
    }
    return gather(flatten(table, 0, int(ids.size()) - 1, location), place, location);
}

}  // namespace fovea
