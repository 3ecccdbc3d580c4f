// Rows of a table by id (embedding's look-up), and its transpose.
#pragma once

#include "codegen/ops/elementwise.h"

namespace fovea {

/// Rows of `table` [rows, width...] by `ids` (i32, any shape) → [ids..., width...].
constexpr Tensor gather(Tensor table, Tensor ids, Location location = Location::here()) {
    if (!is_usable("gather", location, {table, ids})) return poison_of({table, ids});
    if (ids.dtype() != i32 || table.rank() == 0) {
        Text text;
        text << "gather: expected a table [rows, ...] and i32 ids, got " << table.shape() << " and "
             << name_of(ids.dtype()) << " " << ids.shape();
        return fail(*table.graph, location, table.graph->scope_of(ids.id), text);
    }
    if (const Node& id = ids.node(); id.op == Op::constant && table.dim(0).is_static()) {
        const double rows = double(table.dim(0).value());
        if (id.value < 0 || id.value >= rows) {
            Text text;
            text << "gather: id " << std::int64_t(id.value) << " is outside the table "
                 << table.shape();
            table.graph->write_origin(text, table.id);
            return fail(*table.graph, location, table.graph->scope_of(table.id), text);
        }
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
/// have its id. Rows of bf16 and f16 are added in f32, and their sum is rounded.
constexpr Tensor scatter_add(Tensor values, Tensor ids, const Dim& rows,
                             Location location = Location::here()) {
    if (!is_usable("scatter_add", location, {values, ids})) return poison_of({values, ids});
    bool ok = ids.dtype() == i32 && is_float(values.dtype()) && values.rank() >= ids.rank();
    for (int i = 0; ok && i < ids.rank(); ++i) ok = fits(values.shape()[i], ids.shape()[i]);
    if (!ok) {
        Text text;
        text << "scatter_add: expected values [ids..., width...] and i32 ids, got "
             << name_of(values.dtype()) << " " << values.shape() << " and " << name_of(ids.dtype())
             << " " << ids.shape();
        return fail(*values.graph, location, values.graph->scope_of(values.id), text);
    }
    if (is_half(values.dtype()))
        return cast(scatter_add(cast(values, f32, location), ids, rows, location), values.dtype(),
                    location);
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
