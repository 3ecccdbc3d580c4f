// Finds Σ_k softmax_k(score) v_k, and writes the score as a function of one (query, key) pair.
#include "codegen/group/raise_attention.h"

#include <algorithm>
#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/group/read_mask.h"
#include "codegen/ops/attention/attention.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/ternary.h"

namespace fovea {

namespace {

using Labels = std::vector<int>;
using Reason = std::optional<std::string>;

Labels labels_of(const EinsumAxes::List& list) {
    return {list.label.begin(), list.label.begin() + list.count};
}

bool contains(const Labels& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The order in which axes `from` give axes `to`; nothing where they are not the same axes.
using Order = FixedArray<signed char, Shape::kMaxRank>;
std::optional<Order> order_of(const Labels& from, const Labels& to) {
    if (from.size() != to.size()) return {};
    Order order{};
    for (std::size_t i = 0; i < to.size(); ++i) {
        auto at = std::find(from.begin(), from.end(), to[i]);
        if (at == from.end()) return {};
        order[i] = (signed char)(at - from.begin());
    }
    return order;
}

/// One operand of an einsum and how its axes are put in the order of attention's.
struct Operand {
    int id = 0;
    Order order{};
};

/// Attention as it was found; ids are of the source.
struct FoundAttention {
    int softmax = 0, product = 0, random = 0;  // 0: none
    Operand q, k, v;
    Order result{};  // attention's axes as the node has them
};

/// Behind products with the factors of dropout: one for each weight.
int behind_dropout(const Graph& graph, int id, FoundAttention& found) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise || node.function != Elementwise::mul) return id;
    for (int i : {0, 1}) {
        int factor = node.inputs[std::size_t(i)];
        while (graph[factor].op == Op::elementwise &&
               graph[factor].function == Elementwise::identity)
            factor = graph[factor].inputs[0];
        if (graph[factor].op != Op::random || !(graph[factor].shape == node.shape)) continue;
        found.random = factor;
        return node.inputs[std::size_t(1 - i)];
    }
    return id;
}

bool is_softmax(const Graph& graph, int id) {
    const Node& node = graph[id];
    bool softmax = node.op == Op::softmax && node.axis == node.shape.rank() - 1;
    return softmax || node.op == Op::masked_softmax;
}

/// Takes apart the weighted sum: which operand has the weights, and where its axes are.
Reason find_values(const Graph& graph, int id, FoundAttention& found) {
    const Node& node = graph[id];
    if (node.op != Op::einsum) return "it is not an einsum";
    const EinsumAxes& axes = graph.einsums[std::size_t(node.attribute)];
    for (bool first : {true, false}) {
        int weights = node.inputs[first ? 0 : 1];
        found.random = 0;
        found.softmax = behind_dropout(graph, weights, found);
        if (!is_softmax(graph, found.softmax)) continue;
        Labels p = labels_of(first ? axes.a : axes.b), v = labels_of(first ? axes.b : axes.a);
        if (p.size() < 3 || p.size() > 4) return "its weights are not [batch, (heads,) q, k]";
        int key = p.back(), query = p[p.size() - 2], width = -1;
        for (int label : v) width = contains(p, label) ? width : label;
        Labels values(p.begin(), p.end() - 2), result = values;
        values.insert(values.end(), {key, width});
        result.insert(result.end(), {query, width});
        auto order = order_of(v, values), back = order_of(result, labels_of(axes.out));
        if (!order || !back) return "it is not a sum over keys of weights and values";
        found.v = {node.inputs[first ? 1 : 0], *order};
        found.result = *back;
        return {};
    }
    return "neither operand is a softmax over the last axis";
}

/// Takes apart the einsum of queries and keys that gives the scores [batch, (heads,) q, k].
Reason find_vectors(const Graph& graph, int id, FoundAttention& found) {
    const EinsumAxes& axes = graph.einsums[std::size_t(graph[id].attribute)];
    Labels out = labels_of(axes.out);
    if (out.size() < 3 || out.size() > 4) return "its scores are not [batch, (heads,) q, k]";
    int query = out[out.size() - 2], key = out.back();
    for (bool first : {true, false}) {
        Labels q = labels_of(first ? axes.a : axes.b), k = labels_of(first ? axes.b : axes.a);
        if (!contains(q, query) || !contains(k, key)) continue;
        int width = -1;
        for (int label : q) width = contains(out, label) ? width : label;
        Labels queries(out.begin(), out.end() - 2), keys = queries;
        queries.insert(queries.end(), {query, width});
        keys.insert(keys.end(), {key, width});
        auto of_q = order_of(q, queries), of_k = order_of(k, keys);
        if (!of_q || !of_k) break;
        found.product = id;
        found.q = {graph[id].inputs[first ? 0 : 1], *of_q};
        found.k = {graph[id].inputs[first ? 1 : 0], *of_k};
        return {};
    }
    return "its scores are not products of queries and keys";
}

/// Whether a value is one number, or one for each head: what a score may capture.
bool is_by_head(const Shape& shape, int rank) {
    for (int i = 0; i < shape.rank(); ++i) {
        bool heads = rank == 4 && shape.rank() - i == 3;
        if (!shape[i].is_one() && !heads) return false;
    }
    return true;
}

/// Goes through the ops between the product and the softmax.
Reason find_product(const Graph& graph, int id, int rank, FoundAttention& found) {
    const Node& node = graph[id];
    switch (node.op) {
        case Op::einsum:
            if (found.product == id) return {};
            if (found.product) return "its scores are made of two products";
            return find_vectors(graph, id, found);
        case Op::constant:
        case Op::extent:
        case Op::iota: return {};
        case Op::broadcast: return find_product(graph, node.inputs[0], rank, found);
        case Op::elementwise:
            for (int i = 0; i < row_of(node.function).arity; ++i)
                if (auto why = find_product(graph, node.inputs[std::size_t(i)], rank, found))
                    return why;
            return {};
        default:
            if (is_by_head(node.shape, rank)) return {};
            return "its scores take in a tensor of their own size";
    }
}

Reason find_attention(const Graph& graph, int id, FoundAttention& found) {
    if (auto why = find_values(graph, id, found)) return why;
    int scores = graph[found.softmax].inputs[0];
    if (auto why = find_product(graph, scores, graph[scores].shape.rank(), found)) return why;
    if (!found.product) return "its scores are not products of queries and keys";
    return {};
}

/// The score of a pair, from the ops on all pairs.
class PairScore {
  public:
    PairScore(Rewrite& rewrite, const FoundAttention& found, Pair pair)
        : rewrite_(rewrite),
          graph_(rewrite.source()),
          found_(found),
          pair_(pair),
          rank_(graph_[found.softmax].shape.rank()) {}

    Tensor of(int id) {
        const Node& node = graph_[id];
        if (id == found_.product) return dot(pair_.q, pair_.k);
        switch (node.op) {
            case Op::constant:
                return make(rewrite_.target(),
                            {.op = Op::constant, .dtype = node.dtype, .value = node.value});
            case Op::extent:
                return make(rewrite_.target(),
                            {.op = Op::extent, .dtype = node.dtype, .dim = node.dim});
            case Op::iota: return position(node);
            case Op::broadcast: return of(node.inputs[0]);
            case Op::elementwise: return elementwise(node);
            default: return captured(id);
        }
    }

  private:
    /// Along an axis of size 1 there is position 0 alone, whatever it is repeated to.
    Tensor position(const Node& node) const {
        if (node.shape[node.axis].is_one())
            return make(rewrite_.target(), {.op = Op::constant, .dtype = node.dtype});
        int axis = rank_ - node.shape.rank() + node.axis;
        if (axis == rank_ - 1) return pair_.j;
        if (axis == rank_ - 2) return pair_.i;
        return axis == 0 ? pair_.batch : pair_.head;
    }
    Tensor elementwise(const Node& node) {
        if (node.function == Elementwise::identity) return cast(of(node.inputs[0]), node.dtype);
        Tensor x = of(node.inputs[0]);
        if (row_of(node.function).arity == 1) return unary(node.function, x);
        Tensor y = of(node.inputs[1]);
        if (row_of(node.function).arity == 2) return binary(node.function, x, y);
        Tensor z = of(node.inputs[2]);
        if (node.function == Elementwise::where) return where(x, y, z);
        return detail::ternary(node.function, x, y, z);
    }
    /// Reshaped to [] or [heads] outside of the region.
    Tensor captured(int id) {
        Tensor x = rewrite_.mapped(id);
        Graph& graph = rewrite_.target();
        int region = graph.region;
        graph.region = 0;
        bool by_head = false;
        for (int i = x.rank() - 1; i >= 0; --i) {
            if (x.shape()[i].is_one()) x = squeeze(x, i);
            else by_head = true;
        }
        graph.region = region;
        return by_head ? gather(x, pair_.head) : x;
    }

    Rewrite& rewrite_;
    const Graph& graph_;
    const FoundAttention& found_;
    Pair pair_;
    int rank_;
};

Tensor in_order(Rewrite& rewrite, const Operand& operand) {
    return permute(rewrite.mapped(operand.id), operand.order);
}

Tensor raised(Rewrite& rewrite, int id, const FoundAttention& found) {
    const Graph& graph = rewrite.source();
    const Node& softmax = graph[found.softmax];
    Mask mask;
    if (softmax.op == Op::masked_softmax) {
        auto input = [&](int i) {
            int from = softmax.inputs[std::size_t(i)];
            return from >= 0 ? rewrite.mapped(from) : Tensor();
        };
        mask = {.window = graph.attentions[std::size_t(softmax.attribute)].window,
                .lens = input(3),
                .allowed = {},
                .segments = input(5),
                .masked_rows = softmax.masked_rows};
        if (Tensor allowed = input(4); allowed.exists())
            mask = mask & read_mask(allowed, softmax.shape);
        mask.masked_rows = softmax.masked_rows;
    }
    Tensor q = in_order(rewrite, found.q), k = in_order(rewrite, found.k),
           v = in_order(rewrite, found.v);
    auto score = [&](Pair pair) { return PairScore(rewrite, found, pair).of(softmax.inputs[0]); };
    Tensor y = attention(q, k, v, score, mask, {}, graph[id].location);
    if (found.random) {
        AttentionAttributes& attributes =
            rewrite.target().attentions[std::size_t(y.node().attribute)];
        attributes.dropout = graph[found.random].value;
        attributes.site = graph[found.random].site;
    }
    return permute(y, found.result);
}

/// Attention whose boolean tensor compares positions, with what that says as a window and lengths;
/// nothing where there is no more to read.
std::optional<Tensor> with_read_mask(Rewrite& rewrite, int id) {
    const Graph& graph = rewrite.source();
    const Node& node = graph[id];
    if (node.op != Op::attention || node.inputs[4] <= 0) return {};
    const auto input = [&](int i) {
        const int from = node.inputs[std::size_t(i)];
        return from > 0 ? rewrite.mapped(from) : Tensor();
    };
    Shape scores = graph[node.inputs[0]].shape;
    scores[-1] = graph[node.inputs[1]].shape[-2];
    const Mask read = read_mask(input(4), scores);
    if (!read.window.is_limited() && !read.lens.exists()) return {};
    const Mask own{.window = graph.attentions[std::size_t(node.attribute)].window,
                   .lens = input(3),
                   .allowed = {}};
    const Mask mask = own & read;
    const Tensor copied = rewrite.copy(id);
    Graph& target = rewrite.target();
    Node& attention = target[copied.id];
    attention.inputs[3] = mask.lens.exists() ? mask.lens.id : -1;
    attention.inputs[4] = mask.allowed.exists() ? mask.allowed.id : -1;
    AttentionAttributes& attributes = target.attentions[std::size_t(attention.attribute)];
    attributes.window = mask.window;
    attributes.has_lens = mask.lens.exists();
    attributes.has_allowed = mask.allowed.exists();
    return copied;
}

}  // namespace

std::optional<std::string> why_not_attention(const Graph& graph, int id) {
    FoundAttention found;
    return find_attention(graph, id, found);
}

Graph raise_attention(const Graph& graph) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        FoundAttention found;
        if (find_attention(graph, id, found)) return with_read_mask(rewrite, id);
        return raised(rewrite, id, found);
    });
}

}  // namespace fovea
