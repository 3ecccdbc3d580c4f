// Splits reductions over the last axis and others: the last axis first.
#include "codegen/optimize/normalize_reductions.h"

#include "codegen/graph/rewrite.h"
#include "codegen/ops/reduction.h"

namespace fovea {

Graph normalize_reductions(const Graph& graph) {
    return Rewrite::run(graph, [](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = rewrite.source()[id];
        if (node.op != Op::reduce) return {};
        int last = 1 << (node.shape.rank() - 1), others = node.axis & ~last;
        if (!(node.axis & last) || !others) return {};
        Tensor rows = reduce(node.reduction, rewrite.mapped(node.inputs[0]), last);
        return reduce(node.reduction, rows, others);
    });
}

}  // namespace fovea
