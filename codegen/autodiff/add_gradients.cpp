// Walks the graph backwards from the loss, or from cotangents, and applies the gradient rules.
#include "codegen/autodiff/add_gradients.h"

#include <string>
#include <vector>

#include "codegen/autodiff/differentiate_scan.h"
#include "codegen/graph/expand_composites.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

Port gradient_of(Port port) {
    port.gradient = true;
    return port;
}

class Backward : public GradientSink {
  public:
    Backward(Graph& graph, const GradientOptions& options)
        : graph_(graph),
          options_(options),
          count_(int(graph.nodes.size())),
          wanted_(graph.nodes.size(), false),
          gradients_(graph.nodes.size()) {}

    void run() {
        mark_wanted();
        start();
        for (int id = count_ - 1; id > 0; --id) visit(id);
        for (int id = 1; id < count_; ++id) add_result(id);
    }

    Tensor input(int i) override { return {&graph_, node_.inputs[std::size_t(i)]}; }
    bool wants(int i) override {
        int id = node_.inputs[std::size_t(i)];
        return id > 0 && wanted_[std::size_t(id)];
    }
    void add(int i, Tensor gradient) override { add_to(input(i), gradient); }
    void add_to(Tensor value, Tensor gradient) override {
        if (!wanted_[std::size_t(value.id)]) return;
        Shape shape = value.shape();
        Tensor summed = sum_to(gradient, shape);
        Tensor& total = gradients_[std::size_t(value.id)];
        total = total.exists() ? total + summed : summed;
    }

  private:
    bool is_result(const Node& node) const {
        bool is_leaf = (node.op == Op::parameter && !node.frozen) ||
                       (node.op == Op::input && options_.of_inputs && !node.state);
        return is_leaf && is_float(node.dtype);
    }
    /// Marks the values that depend on a parameter or a wanted input.
    void mark_wanted() {
        for (int id = 1; id < count_; ++id) {
            const Node& node = graph_[id];
            bool wanted = is_result(node);
            for (int input : node.inputs)
                wanted = wanted || (input > 0 && wanted_[std::size_t(input)]);
            const bool stops = node.op == Op::stop_gradient && !has_own_gradient(node);
            wanted_[std::size_t(id)] = wanted && is_float(node.dtype) && node.region == 0 && !stops;
        }
    }
    /// Gives the outputs their gradients: ones for the loss, or new inputs.
    void start() {
        bool found = false;
        for (int id = 1; id < count_; ++id) {
            Node node = graph_[id];
            if (node.op != Op::output || node.state || !is_float(node.dtype)) continue;
            if (options_.from_loss && node.name != "loss") continue;
            found = true;
            Graph::From from(graph_, node, true);
            if (options_.from_loss) {
                gradients_[std::size_t(id)] = full(graph_, node.shape, 1, node.dtype);
                continue;
            }
            gradients_[std::size_t(id)] =
                make(graph_, {.op = Op::input,
                              .dtype = node.dtype,
                              .shape = node.shape,
                              .name = intern(std::string(node.name) + ".grad"),
                              .port = gradient_of(node.port)});
        }
        if (!found && options_.from_loss)
            throw UserError(
                "the model has no output `loss` to differentiate: name one "
                "`s.output(\"loss\", ...)`, or give cotangents `<output>.grad`");
    }
    void visit(int id) {
        if (is_scan(graph_, id)) return visit_scan(id);
        Tensor dy = gradients_[std::size_t(id)];
        if (!dy.exists() || !wanted_[std::size_t(id)] || !op_def(graph_[id].op).gradient) return;
        node_ = graph_[id];
        Graph::From from(graph_, node_, true);
        op_def(node_.op).gradient(node_, {&graph_, id}, dy, *this);
    }
    /// At the first of its results all others have their gradients.
    void visit_scan(int id) {
        std::vector<int> nodes = nodes_of_scan(graph_, id);
        const bool is_wanted = std::any_of(nodes.begin(), nodes.end(), [&](int node) {
            return node < count_ && wanted_[std::size_t(node)];
        });
        if (nodes.front() != id || !is_wanted) return;
        const ScanFunction& function = *scan_of(graph_, id).function;
        std::vector<Tensor> cotangents(std::size_t(function.states + function.results));
        bool any = false;
        for (int node : nodes) {
            if (node >= count_) continue;
            cotangents[std::size_t(graph_[node].axis)] = gradients_[std::size_t(node)];
            any = any || gradients_[std::size_t(node)].exists();
        }
        if (!any) return;
        node_ = graph_[id];
        std::vector<bool> wanted;
        for (int i = 0; i < function.inputs(); ++i) wanted.push_back(wants(i));
        Graph::From from(graph_, node_, true);
        std::vector<Tensor> of_inputs = differentiate_scan(graph_, id, cotangents, wanted);
        for (std::size_t i = 0; i < of_inputs.size(); ++i)
            if (of_inputs[i].exists()) add(int(i), of_inputs[i]);
    }
    void add_result(int id) {
        Node node = graph_[id];
        if (!is_result(node) || node.region != 0) return;
        std::string name =
            node.op == Op::parameter ? graph_.path(node.scope) : std::string(node.name);
        Tensor gradient = gradients_[std::size_t(id)];
        Graph::From from(graph_, node, true);
        if (!gradient.exists()) gradient = full(graph_, node.shape, 0, node.dtype);
        make(graph_, {.op = Op::output,
                      .dtype = node.dtype,
                      .shape = node.shape,
                      .inputs = inputs_of({gradient.id}),
                      .name = intern(name + ".grad"),
                      .port = gradient_of(node.port)});
    }

    Graph& graph_;
    GradientOptions options_;
    int count_;                      // of the nodes before the gradient's
    std::vector<bool> wanted_;       // values that a gradient must reach
    std::vector<Tensor> gradients_;  // so far; empty Tensors for none
    Node node_;                      // that is being differentiated
};

}  // namespace

Graph add_gradients(const Graph& graph, const GradientOptions& options) {
    Graph result = expand_composites(graph, [](const Node& node) {
        return op_def(node.op).gradient == nullptr && node.op != Op::scan;
    });
    Backward(result, options).run();
    return result;
}

}  // namespace fovea
