#include "codegen/optimize/sum_into_einsum.h"

#include <algorithm>
#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

class Summing {
  public:
    explicit Summing(const Graph& graph) : graph_(graph), readers_(count_readers(graph)) {}

    Graph run() {
        return Rewrite::run(graph_, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            const Node& node = graph_[id];
            if (node.op != Op::reduce || node.reduction != Reduction::sum) return {};
            if (!can_be_summed(node.inputs[0], node.axis)) return {};
            return summed(rewrite, node.inputs[0], node.axis);
        });
    }

  private:
    /// Whether a value is a product whose operands both have every axis of `axes`, or is put
    /// together of such ones along another axis.
    bool can_be_summed(int id, int axes) const {
        const Node& node = graph_[id];
        if (readers_[std::size_t(id)] > 1) return false;
        if (node.op == Op::concat)
            return !(axes >> node.axis & 1) &&
                   std::all_of(node.inputs.begin(), node.inputs.end(),
                               [&](int part) { return part <= 0 || can_be_summed(part, axes); });
        if (node.op != Op::einsum) return false;
        const EinsumAxes& labels = graph_.einsums[std::size_t(node.attribute)];
        for (int i = 0; i < labels.out.count; ++i) {
            const int label = labels.out.label[std::size_t(i)];
            if ((axes >> i & 1) && !(labels.a.contains(label) && labels.b.contains(label)))
                return false;
        }
        return true;
    }
    Tensor summed(Rewrite& rewrite, int id, int axes) const {
        const Node& node = graph_[id];
        if (node.op == Op::concat) {
            std::vector<Tensor> parts;
            for (int part : node.inputs)
                if (part > 0) parts.push_back(summed(rewrite, part, axes));
            return concat(parts, node.axis);
        }
        EinsumAxes labels = graph_.einsums[std::size_t(node.attribute)];
        const EinsumAxes::List all = labels.out;
        labels.out = {};
        labels.pattern = {};
        for (int i = 0; i < all.count; ++i)
            if (!(axes >> i & 1)) labels.out.push(all.label[std::size_t(i)]);
        Tensor y = einsum(rewrite.mapped(node.inputs[0]), rewrite.mapped(node.inputs[1]), labels,
                          node.location);
        rewrite.target()[y.id].scope = node.scope;
        for (int i = 0; i < all.count; ++i)
            if (axes >> i & 1) y = unsqueeze(y, i);
        return y;
    }

    const Graph& graph_;
    std::vector<int> readers_;
};

}  // namespace

Graph sum_into_einsum(const Graph& graph) { return Summing(graph).run(); }

}  // namespace fovea
