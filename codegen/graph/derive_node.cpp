// Calls the ops' builders on stand-ins of a node's inputs.
#include "codegen/graph/derive_node.h"

#include "codegen/graph/scan_function.h"
#include "codegen/ops/attention.h"
#include "codegen/ops/batch_norm.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/cross_entropy.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/layer_norm.h"
#include "codegen/ops/sinusoids.h"

namespace fovea {

namespace {

/// Labels are distinct in each list, as many as the operand has axes, of equal sizes, and those of
/// the result come from the operands.
std::optional<std::string> why_not(const EinsumAxes& axes, const Shape& a, const Shape& b) {
    if (axes.a.count != a.rank() || axes.b.count != b.rank())
        return "its labels are not its operands' axes";
    std::array<const Dim*, 128> size{};
    for (const EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out}) {
        std::array<bool, 128> seen{};
        for (int i = 0; i < list->count; ++i) {
            int label = list->label[std::size_t(i)];
            if (label < 0 || seen[std::size_t(label)]) return "a label stands twice in one operand";
            seen[std::size_t(label)] = true;
            const Dim*& known = size[std::size_t(label)];
            if (list == &axes.out) {
                if (!known) return "a label of the result is in no operand";
                continue;
            }
            const Dim& dim = (list == &axes.a ? a : b)[i];
            if (known && !(*known == dim)) return "a label has two sizes";
            known = &dim;
        }
    }
    return {};
}

/// The elementary axes make up the input's axes, and each stands once in the output.
std::optional<std::string> why_not(const RearrangeAxes& axes, const Shape& x) {
    int at = 0, out = 0;
    for (int g = 0; g < Shape::kMaxRank; ++g) {
        int size = axes.input_group[std::size_t(g)];
        if ((size >= 0) != (g < x.rank())) return "its groups are not its input's axes";
        Dim product(1);
        for (int i = 0; i < size; ++i) product = product * axes.axis[std::size_t(at++)];
        if (size >= 0 && !(product == x[g])) return "a group does not make up its axis";
    }
    for (int g = 0; g < Shape::kMaxRank && axes.output_group[std::size_t(g)] >= 0; ++g)
        out += axes.output_group[std::size_t(g)];
    if (at != axes.count || out != axes.count) return "its groups do not hold all axes";
    int seen = 0;
    for (int i = 0; i < axes.count; ++i) seen |= 1 << axes.order[std::size_t(i)];
    if (seen != (1 << axes.count) - 1) return "its order is not a permutation";
    return {};
}

std::optional<std::string> why_not_broadcast(const Shape& from, const Shape& to) {
    if (from.rank() > to.rank()) return "it has fewer axes than its input";
    for (int i = 1; i <= from.rank(); ++i)
        if (!(from[-i] == to[-i]) && !from[-i].is_one()) return "it does not repeat axes of size 1";
    return {};
}

/// Its inputs and its shape are those of its step.
std::optional<std::string> why_not_scan(const Graph& graph, const Node& node) {
    const ScanAttributes& scan = graph.scans[std::size_t(node.attribute)];
    if (!scan.function) return {};
    const ScanFunction& function = *scan.function;
    const Graph& step = function.step;
    auto fits_input = [&](int i, ScanName kind, int number, const Shape& outside, int skipped) {
        const int inside = find_input(step, scan_name(kind, number));
        const int id = node.inputs[std::size_t(i)];
        if (!inside || id <= 0 || outside.rank() != step[inside].shape.rank() + skipped)
            return false;
        for (int k = 0; k < step[inside].shape.rank(); ++k)
            if (!(step[inside].shape[k] == outside[k + skipped])) return false;
        return graph[id].dtype == step[inside].dtype;
    };
    for (int i = 0; i < function.inputs(); ++i) {
        const int id = node.inputs[std::size_t(i)];
        if (id <= 0) return "its step has more inputs";
        const bool sequence = i < function.sequences;
        const int state = i - function.sequences, capture = state - function.states;
        const bool fits = sequence ? fits_input(i, ScanName::value, i, graph[id].shape, 1)
                          : capture < 0
                              ? fits_input(i, ScanName::state, state, graph[id].shape, 0)
                              : fits_input(i, ScanName::capture, capture, graph[id].shape, 0);
        if (!fits) return "input " + std::to_string(i) + " is not what its step reads";
        if (sequence && !(graph[id].shape[0] == scan.steps)) return "a sequence has other steps";
    }
    if (node.axis < 0 || node.axis >= function.states + function.results)
        return "its step has no such result";
    return {};
}

/// Builds nodes in a graph of its own.
class Derivation {
  public:
    Derivation(const Graph& source, const Node& node) : source_(source), node_(node) {
        for (std::size_t i = 0; i < kMaxInputs; ++i) {
            if (node.inputs[i] <= 0) continue;
            const Node& input = source[node.inputs[i]];
            x_[i] = make(graph_, {.op = Op::input, .dtype = input.dtype, .shape = input.shape});
        }
    }
    Tensor derive() {
        switch (node_.op) {
            case Op::elementwise: return derive_elementwise();
            case Op::einsum: return einsum(x_[0], x_[1], einsum_axes(), node_.location);
            case Op::reduce: return reduce(node_.reduction, x_[0], node_.axis);
            case Op::rearrange: return rearrange(x_[0], rearrange_axes(), node_.location);
            case Op::slice: return slice(x_[0], node_.axis, node_.dim, node_.shape[node_.axis]);
            case Op::concat: return concat(x_[0], x_[1], node_.axis);
            case Op::gather: return gather(x_[0], x_[1]);
            case Op::scatter_add: return scatter_add(x_[0], x_[1], node_.dim);
            case Op::stop_gradient:
            case Op::output: return x_[0];
            case Op::dropout: return dropout(x_[0], node_.value);
            case Op::softmax: return softmax(x_[0], node_.axis);
            case Op::masked_softmax: return masked_softmax(x_[0], mask());
            case Op::layer_norm: return layer_norm(x_[0], x_[1], x_[2], node_.value);
            case Op::batch_norm: return batch_norm(x_[0], x_[1], x_[2], node_.axis, node_.value);
            case Op::cross_entropy: return cross_entropy(x_[0], x_[1], x_[2]);
            case Op::smoothed_cross_entropy:
                return smoothed_cross_entropy(x_[0], x_[1], node_.axis, node_.value);
            case Op::attention:
                if (!x_[2]) return attention_weights(x_[0], x_[1], dot_product, mask());
                return attention(x_[0], x_[1], x_[2], dot_product, mask());
            case Op::sinusoids: return derive_sinusoids();
            default: return make(graph_, plain());
        }
    }

  private:
    const EinsumAxes& einsum_axes() const { return source_.einsums[std::size_t(node_.attribute)]; }
    const RearrangeAxes& rearrange_axes() const {
        return source_.rearranges[std::size_t(node_.attribute)];
    }
    Node plain() const {
        Node copy = node_;
        for (std::size_t i = 0; i < kMaxInputs; ++i) copy.inputs[i] = x_[i] ? x_[i].id : -1;
        copy.attribute = -1;
        return copy;
    }
    Mask mask() const {
        const AttentionAttributes& a = source_.attentions[std::size_t(node_.attribute)];
        return {.is_causal = a.causal,
                .lens = x_[3],
                .allowed = x_[4],
                .masked_rows = node_.masked_rows};
    }
    Tensor derive_elementwise() {
        if (node_.function == Elementwise::identity) return cast(x_[0], node_.dtype);
        switch (row_of(node_.function).arity) {
            case 1: return unary(node_.function, x_[0]);
            case 2: return binary(node_.function, x_[0], x_[1]);
            default: return where(x_[0], x_[1], x_[2]);
        }
    }
    Tensor derive_sinusoids() {
        if (x_[0]) {
            Tensor y = sinusoids_at(x_[0], node_.shape[-1]);
            return cast(y, node_.dtype);
        }
        return cast(sinusoids(graph_, node_.shape[0], node_.shape[1]), node_.dtype);
    }

    const Graph& source_;
    const Node& node_;
    Graph graph_;
    std::array<Tensor, kMaxInputs> x_{};
};

}  // namespace

std::pair<int, int> input_count(const Node& node) {
    switch (node.op) {
        case Op::elementwise: return {row_of(node.function).arity, row_of(node.function).arity};
        case Op::einsum:
        case Op::concat:
        case Op::gather:
        case Op::scatter_add:
        case Op::smoothed_cross_entropy: return {2, 2};
        case Op::reduce:
        case Op::rearrange:
        case Op::broadcast:
        case Op::slice:
        case Op::stop_gradient:
        case Op::dropout:
        case Op::softmax:
        case Op::output: return {1, 1};
        case Op::layer_norm:
        case Op::batch_norm:
        case Op::cross_entropy: return {3, 3};
        case Op::masked_softmax: return {1, 5};
        case Op::attention: return {2, 5};
        case Op::fused_attention: return {3, int(kMaxInputs)};
        case Op::sinusoids: return {0, 1};
        case Op::step: return {1, 1};
        case Op::scan: return {1, int(kMaxInputs)};
        default: return {0, 0};
    }
}

std::optional<std::string> why_not_derivable(const Graph& graph, int id) {
    const Node& node = graph[id];
    auto shape = [&](int i) -> const Shape& { return graph[node.inputs[std::size_t(i)]].shape; };
    int rank = node.shape.rank();
    bool has_axis = node.axis >= 0 && node.axis < rank;
    switch (node.op) {
        case Op::einsum:
            return why_not(graph.einsums[std::size_t(node.attribute)], shape(0), shape(1));
        case Op::rearrange: return why_not(graph.rearranges[std::size_t(node.attribute)], shape(0));
        case Op::broadcast: return why_not_broadcast(shape(0), node.shape);
        case Op::reduce:
            if (node.axis <= 0 || node.axis >= 1 << rank)
                return "it reduces axes that are not there";
            return {};
        case Op::iota:
        case Op::slice:
        case Op::concat:
        case Op::softmax:
            if (!has_axis) return "its axis is not there";
            return {};
        case Op::sinusoids:
            if (node.inputs[0] < 0 && rank != 2) return "it must have two axes";
            return {};
        case Op::random:
        case Op::dropout:
            if (node.site < 0 || node.site >= graph.sites) return "its site does not exist";
            return {};
        case Op::masked_softmax:
        case Op::fused_attention:
        case Op::attention: {
            const AttentionAttributes& a = graph.attentions[std::size_t(node.attribute)];
            if (a.has_lens != (node.inputs[3] > 0) || a.has_allowed != (node.inputs[4] > 0))
                return "its mask is not among its inputs";
            return {};
        }
        case Op::scan: return why_not_scan(graph, node);
        default: return {};
    }
}

Node derive_node(const Graph& graph, int id) {
    return Derivation(graph, graph[id]).derive().node();
}

}  // namespace fovea
