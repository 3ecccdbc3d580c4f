// Rows of a table by id (embedding's look-up), and its transpose.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

/// Rows of `table` [rows, width...] by `ids` (i32, any shape) → [ids..., width...].
constexpr Tensor gather(Tensor table, Tensor ids, Location location = Location::here()) {
    if (table.is_poison() || ids.is_poison()) return {table.graph, 0};
    if (ids.dtype() != i32) {
        Text text;
        text << "gather: expected i32 ids, got " << name_of(ids.dtype()) << " " << ids.shape();
        return fail(*table.graph, location, table.graph->scope_of(ids.id), text);
    }
    Shape shape = ids.shape();
    for (int i = 1; i < table.rank(); ++i) shape.push(table.shape()[i]);
    return make(*table.graph, {.op = Op::gather,
                               .dtype = table.dtype(),
                               .shape = shape,
                               .inputs = inputs_of({table.id, ids.id}),
                               .location = location,
                               .dim = table.shape()[0].without_label()});
}

/// A table of `rows` rows, zero but for the sum of the rows of `values` [ids..., width...] that
/// have its id.
constexpr Tensor scatter_add(Tensor values, Tensor ids, const Dim& rows,
                             Location location = Location::here()) {
    if (values.is_poison() || ids.is_poison()) return {values.graph, 0};
    Shape shape;
    shape.push(rows);
    for (int i = ids.rank(); i < values.rank(); ++i) shape.push(values.shape()[i]);
    return make(*values.graph, {.op = Op::scatter_add,
                                .dtype = values.dtype(),
                                .shape = shape,
                                .inputs = inputs_of({values.id, ids.id}),
                                .location = location,
                                .dim = rows.without_label()});
}

}  // namespace fovea
