#include "codegen/autodiff/rematerialise.h"

#include <algorithm>

#include "codegen/autodiff/recompute_checkpoints.h"

namespace fovea {

namespace {

class Activations {
  public:
    explicit Activations(const Graph& graph)
        : graph_(graph),
          readers_(graph.nodes.size()),
          beside_product_(graph.nodes.size(), false),
          at_hand_(graph.nodes.size(), false) {
        for (int id = 1; id < size(); ++id) {
            if (graph_[id].region) continue;
            for (int input : graph_[id].inputs)
                if (input > 0) readers_[std::size_t(input)].push_back(id);
            beside_product_[std::size_t(id)] = is_beside_product(id);
        }
    }

    std::vector<bool> run() {
        std::vector<bool> again(graph_.nodes.size(), false);
        for (int id = 1; id < size(); ++id) {
            if (!is_of_forward_pass(id)) continue;
            const bool is_made_of_these = is_made_of_what_is_at_hand(id);
            at_hand_[std::size_t(id)] = is_made_of_these || is_read_beside_product(id);
            again[std::size_t(id)] = is_made_of_these && gradient_reads_in_products(id);
        }
        return again;
    }

  private:
    int size() const { return int(graph_.nodes.size()); }

    bool is_of_forward_pass(int id) const {
        const Node& node = graph_[id];
        return !node.backward && !node.region && !node.recomputed && node.dtype == DType::f32 &&
               node.shape.rank() > 0;
    }
    bool has_shape_of(int input, int id) const {
        return input > 0 && graph_[input].shape == graph_[id].shape;
    }
    bool has_reader_in_gradient(int id) const {
        return std::ranges::any_of(readers_[std::size_t(id)],
                                   [&](int reader) { return graph_[reader].backward; });
    }

    /// Whether an elementwise op makes it of values that the gradient has at hand: those of its
    /// shape, constants, parameters, and statistics of rows, which the gradient reads, too.
    bool is_made_of_what_is_at_hand(int id) const {
        if (graph_[id].op != Op::elementwise) return false;
        bool any = false;
        for (int input : graph_[id].inputs) {
            if (input <= 0 || graph_[input].op == Op::constant) continue;
            if (has_shape_of(input, id)) {
                if (!at_hand_[std::size_t(input)]) return false;
                any = true;
            } else if (graph_[input].op != Op::parameter && !has_reader_in_gradient(input)) {
                return false;
            }
        }
        return any;
    }

    bool gradient_reads_in_products(int id) const {
        return has_reader_in_gradient(id) &&
               std::ranges::none_of(readers_[std::size_t(id)], [&](int reader) {
                   return graph_[reader].backward && graph_[reader].op != Op::einsum;
               });
    }

    /// Whether it is a product of the gradient, or made of one by elementwise ops.
    bool is_beside_product(int id) const {
        const Node& node = graph_[id];
        if (!node.backward || node.dtype != DType::f32) return false;
        if (node.op == Op::einsum) return true;
        return node.op == Op::elementwise && std::ranges::any_of(node.inputs, [&](int input) {
                   return has_shape_of(input, id) && beside_product_[std::size_t(input)];
               });
    }
    bool is_read_beside_product(int id) const {
        return std::ranges::any_of(readers_[std::size_t(id)], [&](int reader) {
            return beside_product_[std::size_t(reader)] && graph_[reader].op == Op::elementwise &&
                   has_shape_of(id, reader);
        });
    }

    const Graph& graph_;
    std::vector<std::vector<int>> readers_;
    std::vector<bool> beside_product_;  // of the gradient
    std::vector<bool> at_hand_;  // of the forward pass: the gradient reads it, or can make it
};

}  // namespace

std::vector<bool> values_to_rematerialise(const Graph& graph) { return Activations(graph).run(); }

Graph rematerialise(const Graph& graph) {
    return make_again(graph, values_to_rematerialise(graph));
}

}  // namespace fovea
