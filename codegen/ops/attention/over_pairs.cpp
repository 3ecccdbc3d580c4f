// Vectorises a function of one pair over all (query, key) pairs.
#include "codegen/ops/attention/over_pairs.h"

#include <string>

#include "codegen/ops/attention/score_function.h"
#include "codegen/ops/composed/flatten.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"

namespace fovea {

OverPairs::OverPairs(const Graph& function, Graph& target, PairLeaves leaves)
    : function_(function),
      target_(target),
      leaves_(std::move(leaves)),
      pairs_(leaves_.query.shape()),
      batcher_(function, target, pairs_.rank(),
               [this](int id) { return leaf_or_contraction(id); }) {
    pairs_[-1] = leaves_.key.dim(-2);
    for (int id = 1; id < int(function.nodes.size()); ++id) batcher_.value(id);
}

Tensor OverPairs::output(const Port& port) {
    const int id = find_output(function_, port);
    if (!id) throw InternalError("a score function has no output " + std::string(name_of(port)));
    return value(id);
}

Tensor OverPairs::value(int id) {
    const Batched value = batcher_.value(id);
    Tensor x = value.tensor;
    for (int i = 0; !value.along && i < pairs_.rank(); ++i) x = unsqueeze(x, 0);
    return x;
}

std::optional<Batched> OverPairs::leaf_or_contraction(int id) {
    const Node& node = function_[id];
    if (node.op == Op::input) return leaf(node);
    if (node.op == Op::gather) return look_up(node);
    const bool sums = node.op == Op::reduce && node.reduction == Reduction::sum;
    return sums ? contraction(node) : std::nullopt;
}

/// A query's vector [batch, (heads,) queries, 1, width], a key's [batch, (heads,) 1, keys, width],
/// a position along one of the axes, the cotangent, or a captured value.
Batched OverPairs::leaf(const Node& node) {
    const int rank = pairs_.rank();
    switch (node.port.role) {
        case Role::query: return {unsqueeze(leaves_.query, rank - 1), true};
        case Role::key: return {unsqueeze(leaves_.key, rank - 2), true};
        case Role::score: return {leaves_.cotangent, true};
        case Role::batch: return index(0);
        case Role::head: return index(rank == 3 ? -1 : 1);
        case Role::query_index: return index(rank - 2);
        case Role::key_index: return index(rank - 1);
        case Role::capture: return {leaves_.captures.at(std::size_t(node.port.number)), false};
        default:
            throw InternalError("a score function has an unknown input " + std::string(node.name));
    }
}

/// Positions along an axis of the pairs; -1: an axis that is not there, whose one position is 0.
Batched OverPairs::index(int axis) {
    Shape shape;
    for (int i = 0; i < pairs_.rank(); ++i) shape.push(i == axis ? pairs_[i] : Dim(1));
    return {iota(target_, shape, axis < 0 ? 0 : axis), true};
}

/// A row of a table that is another one for every pair is one of the rows of all these tables.
std::optional<Batched> OverPairs::look_up(const Node& node) {
    const Batched table = batcher_.value(node.inputs[0]), id = batcher_.value(node.inputs[1]);
    if (!table.along) return {};
    const int pairs = pairs_.rank();
    const Dim rows = function_[node.inputs[0]].shape[0].without_label();
    Tensor place = id.tensor;
    for (int i = 0; !id.along && i < pairs; ++i) place = unsqueeze(place, 0);
    Dim stride = rows;
    for (int axis = pairs; axis-- > 0;) {
        const Dim size = table.tensor.dim(axis).without_label();
        Shape along;
        for (int i = 0; i < place.rank(); ++i) along.push(i == axis ? size : Dim(1));
        if (!size.is_one()) place = place + iota(target_, along, axis) * stride;
        stride = stride * size;
    }
    return Batched{gather(flatten(table.tensor, 0, pairs), place, node.location), true};
}

/// A sum of a product of two values of the pairs is contracted at once: the product of all pairs'
/// vectors is never formed.
std::optional<Batched> OverPairs::contraction(const Node& node) {
    const Node& product = function_[node.inputs[0]];
    const bool is_product = product.op == Op::elementwise && product.function == Elementwise::mul;
    if (!is_product || !batcher_.value(node.inputs[0]).along) return {};
    const int pairs = pairs_.rank(), rank = product.shape.rank();
    std::vector<Tensor> factors;
    for (int id : factors_of(function_, node.inputs[0])) {
        const Batched factor = batcher_.value(id);
        Tensor x = factor.tensor;
        while (factor.along && x.rank() < pairs + rank) x = unsqueeze(x, pairs);
        factors.push_back(x);
    }
    auto contracted = contract_product(factors, pairs + rank, node.axis << pairs);
    if (!contracted) return {};
    return Batched{*contracted, true};
}

}  // namespace fovea
