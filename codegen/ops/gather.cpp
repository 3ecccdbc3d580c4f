// Rows of a table by id, and adding rows to a table: each is the other's gradient.
#include "codegen/ops/gather.h"

#include "codegen/graph/id_operands.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea::ops {

namespace {

/// Calls `row(table row, position)` for each id.
template <class Row>
void for_each_row(const Evaluation& e, std::int64_t rows, Row&& row) {
    const Array& ids = *e.inputs[1];
    for (std::size_t i = 0; i < ids.values.size(); ++i) {
        if (!is_within(ids.values[i], Holds::ids, rows))
            throw UserError(out_of_range_text(place_of_operand(e.graph, e.id, Holds::ids),
                                              Holds::ids, ids.values[i], std::int64_t(i), ids.shape,
                                              rows));
        row(std::size_t(ids.values[i]), i);
    }
}

void gather_reference(const Evaluation& e, Array& result) {
    const Array& table = *e.inputs[0];
    std::int64_t rows = table.shape[0];
    std::size_t width = rows ? table.values.size() / std::size_t(rows) : 0;
    for_each_row(e, rows, [&](std::size_t row, std::size_t at) {
        for (std::size_t k = 0; k < width; ++k)
            result.values[at * width + k] = table.values[row * width + k];
    });
}

void scatter_add_reference(const Evaluation& e, Array& result) {
    std::int64_t rows = e.shape[0];
    std::size_t width = rows ? result.values.size() / std::size_t(rows) : 0;
    for (std::size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = e.inputs.size() > 2 && e.inputs[2] ? e.inputs[2]->values[i] : 0;
    for_each_row(e, rows, [&](std::size_t row, std::size_t at) {
        for (std::size_t k = 0; k < width; ++k)
            result.values[row * width + k] += e.inputs[0]->values[at * width + k];
    });
}

void gather_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, scatter_add(dy, sink.input(1), node.dim));
}

void scatter_add_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, gather(dy, sink.input(1)));
    if (sink.wants(2)) sink.add(2, dy);
}

AxisUse gather_axis(const Graph& graph, const Node& node, int operand, int axis) {
    if (operand == 1) return {Along::maps, axis};
    const int ids = graph[node.inputs[1]].shape.rank();
    return axis == 0 ? AxisUse{} : AxisUse{Along::maps, ids + axis - 1};
}
std::optional<std::string_view> why_no_gather_of_many(const Graph&, const Node&,
                                                      std::uint64_t along, int) {
    if (along & 1) return "its table is another one for each";
    return {};
}
Tensor gather_batch(const Batch& b) { return gather(b.input(0), b.input(1), b.node().location); }
Tensor gather_derive(const Derivation& d) { return gather(d.inputs[0], d.inputs[1]); }

/// Rows are added where ids say; the axes behind those of the ids are the table's.
AxisUse scatter_add_axis(const Graph& graph, const Node& node, int operand, int axis) {
    const int ids = graph[node.inputs[1]].shape.rank();
    if (operand == 2) return axis == 0 ? AxisUse{} : AxisUse{Along::maps, axis};
    if (operand == 1 || axis < ids) return {};
    return {Along::maps, axis - ids + 1};
}
std::optional<std::string_view> why_no_scatter_add_of_many(const Graph& graph, const Node& node,
                                                           std::uint64_t, int) {
    if (graph[node.inputs[1]].shape.rank() != 0) return "it adds more than one row";
    if (node.inputs[2] > 0) return "it adds to a table";
    return {};
}
/// Rows of zeros but for the one that the element's value goes to: compared, since each element has
/// a table of its own.
Tensor scatter_add_batch(const Batch& b) {
    const int own = b.source[b.node().inputs[0]].shape.rank();
    Shape rows;
    for (int i = 0; i < b.axes + 1 + own; ++i) rows.push(i == b.axes ? b.node().shape[0] : Dim(1));
    Tensor id = with_front(b, 1), value = with_front(b, 0);
    for (int i = 0; i < own + 1; ++i) id = unsqueeze(id, b.axes);
    value = unsqueeze(value, b.axes);
    return where(binary(Elementwise::eq, iota(b.target, rows, b.axes), id), value, 0.0);
}
Tensor scatter_add_derive(const Derivation& d) {
    Tensor rows = scatter_add(d.inputs[0], d.inputs[1], d.node.dim);
    return d.node.inputs[2] > 0 ? rows + d.inputs[2] : rows;
}
std::string scatter_add_text(const Graph&, const Node& node) {
    return "scatter_add rows=" + dim_text(node.dim);
}

std::vector<IdOperand> row_ids(const Graph&, const Node& node) {
    return {{1, Holds::ids, node.dim}};
}

}  // namespace

OpDef gather_def() {
    return {.op = Op::gather,
            .inputs = {2, 2},
            .copied = 1,
            .reference = gather_reference,
            .gradient = gather_gradient,
            .axis = gather_axis,
            .batch = gather_batch,
            .why_not_batch = why_no_gather_of_many,
            .derive = gather_derive,
            .ids = row_ids};
}
OpDef scatter_add_def() {
    return {.op = Op::scatter_add,
            .inputs = {2, 3},  // the third, from scatter_onto_tables, is what rows are added to
            .reference = scatter_add_reference,
            .gradient = scatter_add_gradient,
            .axis = scatter_add_axis,
            .batch = scatter_add_batch,
            .why_not_batch = why_no_scatter_add_of_many,
            .derive = scatter_add_derive,
            .text = scatter_add_text,
            .ids = row_ids};
}

}  // namespace fovea::ops
