// Rows of a table by id, and adding rows to a table: each is the other's gradient.
#include "codegen/ops/gather.h"

#include "codegen/graph/id_operands.h"
#include "codegen/ops/definitions.h"

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
    for (double& value : result.values) value = 0;
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
}

}  // namespace

OpDef gather_def() {
    return {.op = Op::gather, .reference = gather_reference, .gradient = gather_gradient};
}
OpDef scatter_add_def() {
    return {.op = Op::scatter_add,
            .reference = scatter_add_reference,
            .gradient = scatter_add_gradient};
}

}  // namespace fovea::ops
