// Follows logits back to the product that they come from: past soft caps, scales, biases and merged
// axes, no further.
#include "codegen/group/fuse_loss.h"

#include <algorithm>
#include <cmath>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/losses/linear_cross_entropy.h"
#include "codegen/ops/losses/loss_terms.h"

namespace fovea {

namespace {

using Reason = std::optional<std::string>;

bool is_cross_entropy(const Node& node) {
    return node.op == Op::cross_entropy || node.op == Op::smoothed_cross_entropy;
}

/// Which nodes outputs depend on.
std::vector<bool> live_nodes(const Graph& graph) {
    std::vector<bool> live(graph.nodes.size(), false);
    for (int id = int(graph.nodes.size()) - 1; id > 0; --id) {
        const Node& node = graph[id];
        if (node.op == Op::output) live[std::size_t(id)] = true;
        if (!live[std::size_t(id)]) continue;
        for (int input : node.inputs)
            if (input > 0) live[std::size_t(input)] = true;
        if (node.op == Op::attention)
            live[std::size_t(graph.attentions[std::size_t(node.attribute)].score)] = true;
    }
    return live;
}

/// Whether a rearrangement leaves its last axis as it is and the others in their order.
bool keeps_last_axis(const Graph& graph, const Node& node) {
    const RearrangeAxes& axes = graph.rearranges[std::size_t(node.attribute)];
    const int from = graph[node.inputs[0]].shape.rank(), to = node.shape.rank();
    if (from == 0 || to == 0 || axes.count == 0) return false;
    for (int i = 0; i < axes.count; ++i)
        if (axes.order[std::size_t(i)] != i) return false;
    return axes.input_group[std::size_t(from - 1)] == 1 &&
           axes.output_group[std::size_t(to - 1)] == 1;
}

class Search {
  public:
    Search(const Graph& graph, int loss, LossProduct& found)
        : graph_(graph), loss_(loss), found_(found), live_(live_nodes(graph)) {}

    Reason run() {
        int reader = loss_, id = graph_[loss_].inputs[0];
        for (;;) {
            if (auto why = why_read_elsewhere(id, reader)) return why;
            const Node& node = graph_[id];
            if (node.dtype != f32) return "its logits are not float32";
            if (node.op == Op::einsum) return match(node);
            reader = id;
            if (is_cast(node) || (node.op == Op::rearrange && keeps_last_axis(graph_, node)))
                id = node.inputs[0];
            else if (const int operand = take_into_curve(node)) id = operand;
            else if (const int bias = bias_of(node); bias && found_.bias < 0)
                found_.bias = bias, id = node.inputs[0] == bias ? node.inputs[1] : node.inputs[0];
            else return "its logits come from " + what(node) + ", not from a product";
        }
    }

  private:
    static std::string what(const Node& node) {
        const bool elementwise = node.op == Op::elementwise;
        return std::string(elementwise ? row_of(node.function).name : row_of(node.op).name);
    }
    bool is_cast(const Node& node) const {
        return node.op == Op::elementwise && node.function == Elementwise::identity;
    }
    /// The operand of `node` where the curve of the logits can have what is done to it, and has it
    /// then: a factor or, once, a tanh; else 0. What is done to a sum with a bias is not taken: the
    /// curve is of that sum.
    int take_into_curve(const Node& node) {
        if (node.op != Op::elementwise || found_.bias >= 0) return 0;
        LogitCurve& curve = found_.curve;
        if (node.function == Elementwise::tanh && curve.outer == 0) {
            curve = {.inner = 1, .outer = curve.inner};
            return node.inputs[0];
        }
        for (int k : {1, 0}) {
            const double factor = factor_of(node, k);
            if (factor == 0) continue;
            curve.inner *= factor;
            return node.inputs[std::size_t(1 - k)];
        }
        return 0;
    }
    /// What operand `k` of `node` multiplies the other one with, if that is one finite number and
    /// not 0, else 0.
    double factor_of(const Node& node, int k) const {
        const bool divides = node.function == Elementwise::div;
        if (!(divides && k == 1) && node.function != Elementwise::mul) return 0;
        const Node& other = graph_[node.inputs[std::size_t(k)]];
        if (other.op != Op::constant || other.shape.rank() > 0) return 0;
        const double factor = divides ? 1 / other.value : other.value;
        return std::isfinite(factor) ? factor : 0;
    }
    /// The operand of a sum that has one number for each class.
    int bias_of(const Node& node) const {
        if (node.op != Op::elementwise || node.function != Elementwise::add) return 0;
        for (int k : {1, 0}) {
            const int bias = node.inputs[std::size_t(k)], other = node.inputs[std::size_t(1 - k)];
            if (graph_[bias].shape.rank() == 1 && graph_[bias].op != Op::einsum && bias != other &&
                graph_[bias].shape[0] == node.shape[-1] && graph_[other].shape == node.shape)
                return bias;
        }
        return 0;
    }
    Reason why_read_elsewhere(int id, int reader) const {
        for (int other = 1; other < int(graph_.nodes.size()); ++other) {
            const Node& node = graph_[other];
            const bool reads = std::ranges::find(node.inputs, id) != node.inputs.end();
            if (other == reader || !reads || !live_[std::size_t(other)]) continue;
            if (node.op == Op::output) return "its logits are an output, " + std::string(node.name);
            return "its logits are read by " + what(node) + ", too";
        }
        return {};
    }
    Reason match(const Node& node) {
        const EinsumAxes& axes = graph_.einsums[std::size_t(node.attribute)];
        const int classes = axes.out.label[std::size_t(axes.out.count - 1)];
        const bool is_b = axes.b.contains(classes);
        const EinsumAxes::List &weight = is_b ? axes.b : axes.a, &x = is_b ? axes.a : axes.b;
        if (x.contains(classes) || weight.count != 2)
            return "its logits come from a product of other shapes than [..., width] and "
                   "[classes, width]";
        found_.in_out = weight.label[1] == classes;
        const int width = weight.label[found_.in_out ? 0 : 1];
        bool in_order = x.count == axes.out.count && x.label[std::size_t(x.count - 1)] == width;
        for (int i = 0; in_order && i + 1 < x.count; ++i)
            in_order = x.label[std::size_t(i)] == axes.out.label[std::size_t(i)];
        if (!in_order || axes.out.contains(width))
            return "the axes of its logits are in another order than those of the product's "
                   "operand";
        found_.x = node.inputs[is_b ? 0 : 1];
        found_.weight = node.inputs[is_b ? 1 : 0];
        const Shape& shape = graph_[found_.x].shape;
        found_.rows = Dim(1);
        for (int i = 0; i + 1 < shape.rank(); ++i)
            found_.rows = found_.rows * shape[i].without_label();
        found_.width = shape[-1];
        found_.classes = node.shape[-1];
        if (found_.classes.is_one()) return "there is one class";
        if (found_.width.is_one()) return "its product is of single numbers";
        return {};
    }

    const Graph& graph_;
    int loss_;
    LossProduct& found_;
    std::vector<bool> live_;
};

/// Axes merged, but for the last so many.
Tensor as_rows(Tensor x, int kept) {
    if (x.rank() == kept) return unsqueeze(x, 0);
    return flatten(x, 0, x.rank() - 1 - kept);
}

Tensor without_logits(Rewrite& rewrite, const Node& loss, const LossProduct& product) {
    const Tensor labels = rewrite.mapped(loss.inputs[1]);
    Tensor weight = rewrite.mapped(product.weight);
    if (product.in_out) weight = permute(weight, {1, 0});
    const Tensor x = as_rows(rewrite.mapped(product.x), 1);
    const Tensor bias = product.bias < 0 ? Tensor() : rewrite.mapped(product.bias);
    const Tensor terms =
        linear_cross_entropy(x, weight, bias, as_rows(labels, 0), loss.value, product.curve);
    const bool has_lens = loss.op == Op::cross_entropy;
    return loss_of_terms(loss, unflatten(terms, 0, labels.shape()), labels,
                         has_lens ? rewrite.mapped(loss.inputs[2]) : Tensor());
}

std::string place_of_loss(const Graph& graph, int id) {
    const Node& node = graph[id];
    std::string path = graph.path(graph.scope_of(id));
    if (path.empty()) path = "the loss";
    if (!node.location.line) return path;
    return path + " (" + std::string(node.location.file_name()) + ":" +
           std::to_string(node.location.line) + ")";
}

/// What a value depends on, itself included.
std::vector<bool> cone_of(const Graph& graph, int id) {
    std::vector<bool> cone(graph.nodes.size(), false);
    cone[std::size_t(id)] = true;
    for (int at = id; at > 0; --at)
        if (cone[std::size_t(at)])
            for (int input : graph[at].inputs)
                if (input > 0) cone[std::size_t(input)] = true;
    return cone;
}

/// A gradient of the loss whose terms node `terms` gives, or 0.
int gradient_of(const Graph& graph, int terms) {
    for (int id = terms + 1; id < int(graph.nodes.size()); ++id) {
        Node without = graph[id];
        if (without.op != Op::linear_cross_entropy) continue;
        without.inputs[std::size_t(LossInput::cotangent)] = -1;
        if (loss_result(without) != LossResult::terms && without.inputs == graph[terms].inputs &&
            without.value == graph[terms].value &&
            curve_of(graph, without) == curve_of(graph, graph[terms]))
            return id;
    }
    return 0;
}

}  // namespace

std::optional<std::string> why_not_fused_loss(const Graph& graph, int id, LossProduct& found) {
    return Search(graph, id, found).run();
}

Graph fuse_loss(const Graph& graph, const WhyLogits& why_not_here, Notes& notes) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (!is_cross_entropy(node)) return {};
        LossProduct product;
        auto why = why_not_fused_loss(graph, id, product);
        if (!why) why = why_not_here(id, product);
        if (!why) return without_logits(rewrite, node, product);
        notes.push_back(place_of_loss(graph, id) + ": logits are stored: " + *why);
        return {};
    });
}

Graph join_losses(const Graph& graph, Notes& notes) {
    std::vector<bool> moved(graph.nodes.size(), false);
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (moved[std::size_t(id)]) return rewrite.mapped(id);
        const Node& node = graph[id];
        if (node.op != Op::linear_cross_entropy || loss_result(node) != LossResult::terms)
            return {};
        const int gradient = gradient_of(graph, id);
        if (!gradient) return {};
        const int given = loss_input(graph[gradient], LossInput::cotangent);
        const std::vector<bool> cone = cone_of(graph, given);
        if (cone[std::size_t(id)]) {
            notes.push_back(place_of_loss(graph, id) +
                            ": logits are made twice: the gradient of the terms depends on them");
            return {};
        }
        for (int at = id + 1; at <= given; ++at) {
            if (!cone[std::size_t(at)] || moved[std::size_t(at)]) continue;
            moved[std::size_t(at)] = true;
            rewrite.set(at, rewrite.copy(at));
        }
        Node joined = node;
        for (int& input : joined.inputs)
            if (input >= 0) input = rewrite.mapped(input).id;
        joined.inputs[std::size_t(LossInput::cotangent)] = rewrite.mapped(given).id;
        copy_attribute(graph, joined, rewrite.target());
        return make(rewrite.target(), joined);
    });
}

}  // namespace fovea
