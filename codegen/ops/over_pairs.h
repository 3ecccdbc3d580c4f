// A function of one (query, key) pair, applied to all pairs at once.
#pragma once

#include <string_view>
#include <vector>

#include "codegen/graph/tensor.h"

namespace fovea {

/// The values of the inputs of a score function (see ScoreFunction): `query` [batch, (heads,)
/// queries, width], `key` [.., keys, width], `cotangent` [.., queries, keys] where the function has
/// an input `score.grad`.
struct PairLeaves {
    Tensor query, key, cotangent{};
    std::vector<Tensor> captures{};
};

/// Builds the outputs of a score function for all pairs: every value gets the axes of the pairs in
/// front, of size 1 where it does not depend on them. Sums of products become einsums. UserError
/// for an op that a score cannot use.
class OverPairs {
  public:
    OverPairs(const Graph& function, Graph& target, PairLeaves leaves);
    /// Output `name` [batch, (heads,) queries, keys, …], of size 1 where pairs share it.
    Tensor output(std::string_view name);
    /// [batch, (heads,) queries, keys]
    const Shape& pairs() const { return pairs_; }

  private:
    /// A value of the function; `paired`: the axes of the pairs stand in front of its own.
    struct Value {
        Tensor tensor;
        bool paired = false;
    };

    Value build(int id);
    Value build_leaf(const Node& node);
    Value build_index(int axis);
    Value build_elementwise(int id);
    Value build_reduce(int id);
    Value build_rearrange(const Node& node);
    Value build_einsum(const Node& node);
    Value build_gather(const Node& node);
    Value build_scatter_add(const Node& node);
    Value build_along_axis(const Node& node);
    Value build_broadcast(const Node& node);
    Value build_plain(const Node& node);
    Value value_of(int id) const { return values_[std::size_t(id)]; }
    Tensor aligned(const Value& value, int own_rank, int rank) const;
    Tensor with_pairs(const Value& value) const;
    [[noreturn]] void refuse(const Node& node, const char* why) const;

    const Graph& function_;
    Graph& target_;
    PairLeaves leaves_;
    Shape pairs_;
    std::vector<Value> values_;
};

}  // namespace fovea
