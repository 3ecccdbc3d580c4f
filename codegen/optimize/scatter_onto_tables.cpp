#include "codegen/optimize/scatter_onto_tables.h"

#include <vector>

#include "codegen/graph/rewrite.h"

namespace fovea {

namespace {

class TableSearch {
  public:
    explicit TableSearch(const Graph& graph) : graph_(graph), readers_(count_readers(graph)) {}

    /// The rows that sum `id` adds to its other term, a table; nothing where it has no such terms.
    std::optional<Tensor> added(Rewrite& rewrite, int id) const {
        const Node& sum = graph_[id];
        if (sum.op != Op::elementwise || sum.function != Elementwise::add) return {};
        for (std::size_t i : {0, 1}) {
            const int rows = sum.inputs[i], table = sum.inputs[1 - i];
            if (!are_rows(rows) || !is_table(table, sum)) continue;
            Node onto = graph_[rows];
            onto.inputs[0] = rewrite.mapped(onto.inputs[0]).id;
            onto.inputs[1] = rewrite.mapped(onto.inputs[1]).id;
            onto.inputs[2] = rewrite.mapped(table).id;
            return make(rewrite.target(), onto);
        }
        return {};
    }

  private:
    bool are_rows(int id) const {
        const Node& node = graph_[id];
        return node.op == Op::scatter_add && node.inputs[2] <= 0 && readers_[std::size_t(id)] == 1;
    }
    /// Whether a value has a memory of its own that nobody else reads.
    bool is_table(int id, const Node& sum) const {
        const Node& node = graph_[id];
        const OpClass what = row_of(node.op).op_class;
        return (what == OpClass::contraction || what == OpClass::loss) && node.region == 0 &&
               readers_[std::size_t(id)] == 1 && node.dtype == sum.dtype && node.shape == sum.shape;
    }

    const Graph& graph_;
    std::vector<int> readers_;
};

}  // namespace

Graph scatter_onto_tables(const Graph& graph) {
    const TableSearch search(graph);
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) { return search.added(rewrite, id); });
}

}  // namespace fovea
