// Counts what a score function computes for every pair; what a query or a key gives alone is
// computed once per row, and not counted.
#include <algorithm>
#include <set>
#include <vector>

#include "codegen/fuse/estimate_attention.h"
#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

enum Side { neither = 0, query = 1, key = 2, pair = 3 };  // what a value depends on

double size_of(const Shape& shape) {
    double size = 1;
    for (const Dim& dim : shape) size *= dim.is_static() ? double(dim.value()) : 1;
    return size;
}

class Counting {
  public:
    explicit Counting(const Graph& graph)
        : graph_(graph), readers_(readers_of(graph)), sides_(graph.nodes.size(), neither) {}

    PairWork run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            sides_[std::size_t(id)] = side_of(graph_[id]);
            if (side(id) == pair) count(id);
        }
        return work_;
    }

  private:
    int side(int id) const { return sides_[std::size_t(id)]; }
    int side_of(const Node& node) const {
        if (node.op == Op::input) {
            switch (node.port.role) {
                case Role::score: return pair;
                case Role::query:
                case Role::query_index: return query;
                case Role::key:
                case Role::key_index: return key;
                default: return neither;
            }
        }
        int side = neither;
        for (int input : node.inputs)
            if (input >= 0) side |= sides_[std::size_t(input)];
        return side;
    }

    void count(int id) {
        const Node& node = graph_[id];
        const double size = size_of(node.shape);
        if (node.op == Op::einsum) {
            work_.multiply_adds += summed_products(node);
        } else if (node.op == Op::reduce) {
            if (!is_summed_product(node.inputs[0]))
                work_.operations += size_of(graph_[node.inputs[0]].shape);
        } else if (node.op == Op::elementwise) {
            if (is_summed_product(id) || is_term_of_product(node)) {
                work_.multiply_adds += size;
                return;
            }
            (cost_of(node) == Cost::many ? work_.transcendentals : work_.operations) += size;
            work_.widest = std::max(work_.widest, size);
        }
    }
    /// A product of vectors that only sums read: they take it in.
    bool is_summed_product(int id) const {
        const Node& node = graph_[id];
        const std::vector<int>& readers = readers_[std::size_t(id)];
        return node.op == Op::elementwise && node.function == Elementwise::mul &&
               !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int reader) {
                   return graph_[reader].op == Op::reduce;
               });
    }
    /// One number of the pair times a vector of the query or the key: a gradient of the other,
    /// which a sum over pairs takes in.
    bool is_term_of_product(const Node& node) const {
        if (node.function != Elementwise::mul || node.shape.rank() == 0) return false;
        const auto is_number = [&](int id) {
            const Node* at = &graph_[id];
            while (at->op == Op::broadcast || at->op == Op::rearrange) at = &graph_[at->inputs[0]];
            return side(id) == pair && size_of(at->shape) == 1;
        };
        const int a = node.inputs[0], b = node.inputs[1];
        return (is_number(a) && side(b) != pair) || (is_number(b) && side(a) != pair);
    }
    double summed_products(const Node& node) const {
        const EinsumAxes& axes = graph_.einsums[std::size_t(node.attribute)];
        std::set<int> seen;
        double products = 1;
        const auto add = [&](const EinsumAxes::List& list, const Shape& shape) {
            for (int i = 0; i < list.count; ++i)
                if (seen.insert(list.label[std::size_t(i)]).second && shape[i].is_static())
                    products *= double(shape[i].value());
        };
        add(axes.a, graph_[node.inputs[0]].shape);
        if (node.inputs[1] >= 0) add(axes.b, graph_[node.inputs[1]].shape);
        return products;
    }

    const Graph& graph_;
    std::vector<std::vector<int>> readers_;
    std::vector<int> sides_;
    PairWork work_;
};

}  // namespace

PairWork pair_work(const Graph& function) { return Counting(function).run(); }

}  // namespace fovea::fuse
