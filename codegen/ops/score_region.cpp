// Vectorises a score region over all (query, key) pairs.
#include "codegen/ops/score_region.h"

#include <string>

#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"

namespace fovea {

ScoreRegion::ScoreRegion(const Expansion& expansion)
    : expansion_(expansion),
      attributes_(expansion.source.attentions[std::size_t(expansion.node().attribute)]),
      target_(expansion.target),
      values_(expansion.source.nodes.size()) {
    pairs_ = expansion.inputs[0].shape();
    pairs_[-1] = expansion.inputs[1].dim(-2);
}

Tensor ScoreRegion::scores() {
    const Graph& source = expansion_.source;
    for (int id = 1; id < expansion_.id; ++id)
        if (source[id].region == attributes_.region) values_[std::size_t(id)] = build(id);
    Value score = value_of(attributes_.score);
    Tensor all = score.paired ? score.tensor : place_axes(score.tensor, pairs_.rank(), {});
    return broadcast(all, pairs_);
}

ScoreRegion::Value ScoreRegion::value_of(int id) const {
    if (values_[std::size_t(id)].tensor) return values_[std::size_t(id)];
    return {expansion_.value_of(id), false};
}

void ScoreRegion::refuse(const Node& node, const char* why) const {
    Text text;
    text << "a score cannot use " << row_of(node.op).name << " here: " << why;
    Graph& graph = target_;
    graph.fail(node.location, node.scope, text);
    throw InternalError("a failed op did not throw");
}

ScoreRegion::Value ScoreRegion::build(int id) {
    const Node& node = expansion_.source[id];
    switch (node.op) {
        case Op::pair: return build_pair(node);
        case Op::elementwise: return build_elementwise(id);
        case Op::reduce: return build_reduce(id);
        case Op::rearrange: return build_rearrange(node);
        case Op::einsum: return build_einsum(node);
        case Op::gather: return build_gather(node);
        case Op::stop_gradient: {
            Value x = value_of(node.inputs[0]);
            return {stop_gradient(x.tensor), x.paired};
        }
        case Op::broadcast: {
            Value x = value_of(node.inputs[0]);
            int rank = node.shape.rank(), own = expansion_.source[node.inputs[0]].shape.rank();
            if (!x.paired) return {broadcast(x.tensor, node.shape), false};
            Tensor y = aligned(x, own, rank);
            Shape shape = y.shape();
            for (int i = 0; i < rank; ++i) shape[pairs_.rank() + i] = node.shape[i];
            return {broadcast(y, shape), true};
        }
        case Op::slice:
        case Op::concat:
        case Op::softmax: return build_along_axis(node);
        default: return build_plain(node);
    }
}

/// A query's vector [batch, (heads,) queries, 1, width], a key's [batch, (heads,) 1, keys, width],
/// or a position along one of the axes.
ScoreRegion::Value ScoreRegion::build_pair(const Node& node) {
    int rank = pairs_.rank();
    if (node.part == PairPart::query) return {unsqueeze(expansion_.inputs[0], rank - 1), true};
    if (node.part == PairPart::key) return {unsqueeze(expansion_.inputs[1], rank - 2), true};
    int axis = 0;
    if (node.part == PairPart::head) axis = 1;
    if (node.part == PairPart::query_index) axis = rank - 2;
    if (node.part == PairPart::key_index) axis = rank - 1;
    Shape shape;
    bool no_heads = node.part == PairPart::head && rank == 3;  // the one head is number 0
    for (int i = 0; i < rank; ++i) shape.push(i == axis && !no_heads ? pairs_[i] : Dim(1));
    return {iota(target_, shape, axis), true};
}

/// The value with `rank` axes of its own: axes of size 1 go between the pairs' and its own.
Tensor ScoreRegion::aligned(const Value& value, int own_rank, int rank) const {
    Tensor x = value.tensor;
    if (!value.paired) return x;
    for (int i = own_rank; i < rank; ++i) x = unsqueeze(x, pairs_.rank());
    return x;
}

Tensor ScoreRegion::with_pairs(const Value& value) const {
    Tensor x = value.tensor;
    for (int i = 0; !value.paired && i < pairs_.rank(); ++i) x = unsqueeze(x, 0);
    return x;
}

ScoreRegion::Value ScoreRegion::build_elementwise(int id) {
    const Node& node = expansion_.source[id];
    std::array<Tensor, 3> operands{};
    bool paired = false;
    for (std::size_t i = 0; i < std::size_t(row_of(node.function).arity); ++i) {
        Value value = value_of(node.inputs[i]);
        int own = expansion_.source[node.inputs[i]].shape.rank();
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
ScoreRegion::Value ScoreRegion::build_reduce(int id) {
    const Node& node = expansion_.source[id];
    const Node& product = expansion_.source[node.inputs[0]];
    Value x = value_of(node.inputs[0]);
    if (!x.paired) return {reduce(node.reduction, x.tensor, node.axis), false};
    int axes = node.axis << pairs_.rank();
    bool is_product = node.reduction == Reduction::sum && product.region == attributes_.region &&
                      product.op == Op::elementwise && product.function == Elementwise::mul;
    if (is_product) {
        int rank = product.shape.rank();
        std::vector<Tensor> factors;
        for (int id_of_factor : factors_of(expansion_.source, node.inputs[0])) {
            int own = expansion_.source[id_of_factor].shape.rank();
            factors.push_back(aligned(value_of(id_of_factor), own, rank));
        }
        auto contracted = contract_product(factors, pairs_.rank() + rank, axes);
        if (contracted) return {*contracted, true};
    }
    return {reduce(node.reduction, x.tensor, axes), true};
}

ScoreRegion::Value ScoreRegion::build_rearrange(const Node& node) {
    Value x = value_of(node.inputs[0]);
    RearrangeAxes own = expansion_.source.rearranges[std::size_t(node.attribute)];
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
ScoreRegion::Value ScoreRegion::build_einsum(const Node& node) {
    const EinsumAxes& own = expansion_.source.einsums[std::size_t(node.attribute)];
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

ScoreRegion::Value ScoreRegion::build_gather(const Node& node) {
    Value table = value_of(node.inputs[0]), ids = value_of(node.inputs[1]);
    if (table.paired) refuse(node, "its table would be another one for every pair");
    return {gather(table.tensor, ids.tensor, node.location), ids.paired};
}

ScoreRegion::Value ScoreRegion::build_along_axis(const Node& node) {
    Value x = value_of(node.inputs[0]);
    int axis = node.axis + (x.paired ? pairs_.rank() : 0);
    if (node.op == Op::softmax) {
        Node copy = node;
        copy.shape = x.tensor.shape();
        copy.inputs = {x.tensor.id, -1, -1, -1, -1};
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

/// Leaves, and any op that reads nothing of the pairs.
ScoreRegion::Value ScoreRegion::build_plain(const Node& node) {
    Node copy = node;
    for (int& input : copy.inputs) {
        if (input < 0) continue;
        Value value = value_of(input);
        if (value.paired) refuse(node, "it is not an op of single pairs");
        input = value.tensor.id;
    }
    if (copy.attribute >= 0) refuse(node, "it is not an op of single pairs");
    if (node.op == Op::parameter || node.op == Op::input) {
        target_.nodes.push_back(copy);
        target_.nodes.back().region = 0;
        return {{&target_, int(target_.nodes.size()) - 1}, false};
    }
    return {make(target_, copy), false};
}

}  // namespace fovea
