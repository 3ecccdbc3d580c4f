// Vectorises a function of one pair over all (query, key) pairs.
#include "codegen/ops/over_pairs.h"

#include <string>

#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/score_function.h"

namespace fovea {

OverPairs::OverPairs(const Graph& function, Graph& target, PairLeaves leaves)
    : function_(function),
      target_(target),
      leaves_(std::move(leaves)),
      pairs_(leaves_.query.shape()),
      values_(function.nodes.size()) {
    pairs_[-1] = leaves_.key.dim(-2);
    for (int id = 1; id < int(function.nodes.size()); ++id) {
        const Node& node = function[id];
        values_[std::size_t(id)] = node.op == Op::output ? value_of(node.inputs[0]) : build(id);
    }
}

Tensor OverPairs::output(std::string_view name) {
    for (int id = 1; id < int(function_.nodes.size()); ++id)
        if (function_[id].op == Op::output && function_[id].name == name)
            return with_pairs(value_of(id));
    throw InternalError("a score function has no output " + std::string(name));
}

void OverPairs::refuse(const Node& node, const char* why) const {
    Text text;
    text << "a score cannot use " << row_of(node.op).name << " here: " << why;
    Graph& graph = target_;
    graph.fail(node.location, node.scope, text);
    throw InternalError("a failed op did not throw");
}

OverPairs::Value OverPairs::build(int id) {
    const Node& node = function_[id];
    switch (node.op) {
        case Op::input: return build_leaf(node);
        case Op::elementwise: return build_elementwise(id);
        case Op::reduce: return build_reduce(id);
        case Op::rearrange: return build_rearrange(node);
        case Op::einsum: return build_einsum(node);
        case Op::gather: return build_gather(node);
        case Op::stop_gradient: {
            Value x = value_of(node.inputs[0]);
            return {stop_gradient(x.tensor), x.paired};
        }
        case Op::scatter_add: return build_scatter_add(node);
        case Op::broadcast: return build_broadcast(node);
        case Op::slice:
        case Op::concat:
        case Op::softmax: return build_along_axis(node);
        default: return build_plain(node);
    }
}

/// A query's vector [batch, (heads,) queries, 1, width], a key's [batch, (heads,) 1, keys, width],
/// a position along one of the axes, the cotangent, or a captured value.
OverPairs::Value OverPairs::build_leaf(const Node& node) {
    int rank = pairs_.rank();
    if (node.name == "query") return {unsqueeze(leaves_.query, rank - 1), true};
    if (node.name == "key") return {unsqueeze(leaves_.key, rank - 2), true};
    if (node.name == "score.grad") return {leaves_.cotangent, true};
    if (node.name == "batch") return build_index(0);
    if (node.name == "head") return build_index(rank == 3 ? -1 : 1);
    if (node.name == "query_index") return build_index(rank - 2);
    if (node.name == "key_index") return build_index(rank - 1);
    int number = capture_number(node.name);
    if (number < 0 || number >= int(leaves_.captures.size()))
        throw InternalError("a score function has an unknown input " + std::string(node.name));
    return {leaves_.captures[std::size_t(number)], false};
}

/// Positions along an axis of the pairs; -1: an axis that is not there, whose one position is 0.
OverPairs::Value OverPairs::build_index(int axis) {
    Shape shape;
    for (int i = 0; i < pairs_.rank(); ++i) shape.push(i == axis ? pairs_[i] : Dim(1));
    return {iota(target_, shape, axis < 0 ? 0 : axis), true};
}

OverPairs::Value OverPairs::build_broadcast(const Node& node) {
    Value x = value_of(node.inputs[0]);
    int rank = node.shape.rank(), own = function_[node.inputs[0]].shape.rank();
    if (!x.paired) return {broadcast(x.tensor, node.shape), false};
    Tensor y = aligned(x, own, rank);
    Shape shape = y.shape();
    for (int i = 0; i < rank; ++i) shape[pairs_.rank() + i] = node.shape[i];
    return {broadcast(y, shape), true};
}

/// The value with `rank` axes of its own: axes of size 1 go between the pairs' and its own.
Tensor OverPairs::aligned(const Value& value, int own_rank, int rank) const {
    Tensor x = value.tensor;
    if (!value.paired) return x;
    for (int i = own_rank; i < rank; ++i) x = unsqueeze(x, pairs_.rank());
    return x;
}

Tensor OverPairs::with_pairs(const Value& value) const {
    Tensor x = value.tensor;
    for (int i = 0; !value.paired && i < pairs_.rank(); ++i) x = unsqueeze(x, 0);
    return x;
}

OverPairs::Value OverPairs::build_elementwise(int id) {
    const Node& node = function_[id];
    std::array<Tensor, 3> operands{};
    bool paired = false;
    for (std::size_t i = 0; i < std::size_t(row_of(node.function).arity); ++i) {
        Value value = value_of(node.inputs[i]);
        int own = function_[node.inputs[i]].shape.rank();
        operands[i] = aligned(value, own, node.shape.rank());
        paired = paired || value.paired;
    }
    switch (row_of(node.function).arity) {
        case 1:
            if (node.function == Elementwise::identity)
                return {cast(operands[0], node.dtype), paired};
            return {unary(node.function, operands[0]), paired};
        case 2: return {binary(node.function, operands[0], operands[1]), paired};
        default: return {where(operands[0], operands[1], operands[2]), paired};
    }
}

/// A sum of a product of two values of the pairs is contracted at once: the product of all pairs'
/// vectors is never formed.
OverPairs::Value OverPairs::build_reduce(int id) {
    const Node& node = function_[id];
    const Node& product = function_[node.inputs[0]];
    Value x = value_of(node.inputs[0]);
    if (!x.paired) return {reduce(node.reduction, x.tensor, node.axis), false};
    int axes = node.axis << pairs_.rank();
    bool is_product = node.reduction == Reduction::sum && product.op == Op::elementwise &&
                      product.function == Elementwise::mul;
    if (is_product) {
        int rank = product.shape.rank();
        std::vector<Tensor> factors;
        for (int id_of_factor : factors_of(function_, node.inputs[0])) {
            int own = function_[id_of_factor].shape.rank();
            factors.push_back(aligned(value_of(id_of_factor), own, rank));
        }
        auto contracted = contract_product(factors, pairs_.rank() + rank, axes);
        if (contracted) return {*contracted, true};
    }
    return {reduce(node.reduction, x.tensor, axes), true};
}

OverPairs::Value OverPairs::build_rearrange(const Node& node) {
    Value x = value_of(node.inputs[0]);
    RearrangeAxes own = function_.rearranges[std::size_t(node.attribute)];
    if (!x.paired) return {rearrange(x.tensor, own, node.location), false};
    int pairs = pairs_.rank();
    RearrangeAxes axes;
    if (own.count + pairs > RearrangeAxes::kMax) refuse(node, "the pattern has too many axes");
    axes.count = own.count + pairs;
    axes.input_group.fill(-1);
    axes.output_group.fill(-1);
    for (int i = 0; i < pairs; ++i) {
        axes.axis[std::size_t(i)] = x.tensor.shape()[i];
        axes.order[std::size_t(i)] = (signed char)i;
        axes.input_group[std::size_t(i)] = axes.output_group[std::size_t(i)] = 1;
    }
    for (int i = 0; i < own.count; ++i) {
        axes.axis[std::size_t(pairs + i)] = own.axis[std::size_t(i)];
        axes.order[std::size_t(pairs + i)] = (signed char)(own.order[std::size_t(i)] + pairs);
    }
    for (int i = 0; i + pairs < Shape::kMaxRank; ++i) {
        axes.input_group[std::size_t(pairs + i)] = own.input_group[std::size_t(i)];
        axes.output_group[std::size_t(pairs + i)] = own.output_group[std::size_t(i)];
    }
    return {rearrange(x.tensor, axes, node.location), true};
}

/// The pairs' axes become labels of the operands that depend on them.
OverPairs::Value OverPairs::build_einsum(const Node& node) {
    const EinsumAxes& own = function_.einsums[std::size_t(node.attribute)];
    Value a = value_of(node.inputs[0]), b = value_of(node.inputs[1]);
    if (!a.paired && !b.paired) return {einsum(a.tensor, b.tensor, own, node.location), false};
    int pairs = pairs_.rank(), kept = 0;
    EinsumAxes axes;
    auto operand = [&](const Value& value, const EinsumAxes::List& labels, EinsumAxes::List& to) {
        Tensor x = value.tensor;
        int at = 0;
        for (int i = 0; value.paired && i < pairs; ++i) {
            if (x.shape()[at].is_one()) {
                x = squeeze(x, at);
                continue;
            }
            to.push(i);
            kept |= 1 << i;
            ++at;
        }
        for (int i = 0; i < labels.count; ++i) to.push(labels.label[std::size_t(i)] + pairs);
        return x;
    };
    Tensor x = operand(a, own.a, axes.a), y = operand(b, own.b, axes.b);
    for (int i = 0; i < pairs; ++i)
        if (kept >> i & 1) axes.out.push(i);
    for (int i = 0; i < own.out.count; ++i) axes.out.push(own.out.label[std::size_t(i)] + pairs);
    Tensor result = einsum(x, y, axes, node.location);
    for (int i = 0; i < pairs; ++i)
        if (!(kept >> i & 1)) result = unsqueeze(result, i);
    return {result, true};
}

OverPairs::Value OverPairs::build_gather(const Node& node) {
    Value table = value_of(node.inputs[0]), ids = value_of(node.inputs[1]);
    if (table.paired) refuse(node, "its table would be another one for every pair");
    return {gather(table.tensor, ids.tensor, node.location), ids.paired};
}

/// Rows of zeros but for the one that every pair's value goes to: compared, since each pair has a
/// table of its own.
OverPairs::Value OverPairs::build_scatter_add(const Node& node) {
    Value values = value_of(node.inputs[0]), ids = value_of(node.inputs[1]);
    int own = function_[node.inputs[0]].shape.rank();
    if (function_[node.inputs[1]].shape.rank() != 0) refuse(node, "it adds more than one row");
    int pairs = pairs_.rank();
    Shape rows;
    for (int i = 0; i < pairs + 1 + own; ++i) rows.push(i == pairs ? node.shape[0] : Dim(1));
    Tensor id = with_pairs(ids), value = with_pairs(values);
    for (int i = 0; i < own + 1; ++i) id = unsqueeze(id, pairs);
    value = unsqueeze(value, pairs);
    return {where(binary(Elementwise::eq, iota(target_, rows, pairs), id), value, 0.0), true};
}

OverPairs::Value OverPairs::build_along_axis(const Node& node) {
    Value x = value_of(node.inputs[0]);
    int axis = node.axis + (x.paired ? pairs_.rank() : 0);
    if (node.op == Op::softmax) {
        Node copy = node;
        copy.shape = x.tensor.shape();
        copy.inputs = inputs_of({x.tensor.id});
        copy.axis = axis;
        return {make(target_, copy), x.paired};
    }
    if (node.op == Op::slice)
        return {slice(x.tensor, axis, node.dim, node.shape[node.axis], node.location), x.paired};
    Value y = value_of(node.inputs[1]);
    if (!x.paired && !y.paired) return {concat(x.tensor, y.tensor, axis, node.location), false};
    int pairs = pairs_.rank();
    Tensor a = with_pairs(x), b = with_pairs(y);
    Shape shape_a = a.shape(), shape_b = b.shape();
    for (int i = 0; i < pairs; ++i)
        shape_a[i] = shape_b[i] = shape_a[i].is_one() ? shape_b[i] : shape_a[i];
    a = broadcast(a, shape_a);
    b = broadcast(b, shape_b);
    return {concat(a, b, node.axis + pairs, node.location), true};
}

/// Any op that reads nothing of the pairs.
OverPairs::Value OverPairs::build_plain(const Node& node) {
    Node copy = node;
    for (int& input : copy.inputs) {
        if (input < 0) continue;
        Value value = value_of(input);
        if (value.paired) refuse(node, "it is not an op of single pairs");
        input = value.tensor.id;
    }
    if (copy.attribute >= 0) refuse(node, "it is not an op of single pairs");
    return {make(target_, copy), false};
}

}  // namespace fovea
