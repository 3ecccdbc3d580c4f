// The sum of a model's named losses, which training differentiates.
#pragma once

#include "codegen/ops/reduction.h"
#include "dsl/scope.h"

namespace fovea {

/// Called when a model is whole: its losses, by their weights, are output `loss`, [].
constexpr void add_total_loss(Graph& graph) {
    if (graph.losses.empty()) return;
    Tensor total;
    for (const LossTerm& loss : graph.losses) {
        Tensor value{&graph, loss.value};
        const int rank = value.rank();
        if (rank > 0) value = reduce(Reduction::sum, value, (1 << rank) - 1);
        for (int i = 0; i < rank; ++i) value = squeeze(value, 0);
        if (loss.weight != 1) value = value * loss.weight;
        total = total.exists() ? total + value : value;
    }
    if (total.is_poison()) return;
    make(graph, {.op = Op::output,
                 .dtype = total.dtype(),
                 .shape = total.shape(),
                 .inputs = inputs_of({total.id}),
                 .location = graph[total.id].location,
                 .name = "loss"});
}

}  // namespace fovea
