// A function of one (query, key) pair, applied to all pairs at once.
#pragma once

#include <vector>

#include "codegen/graph/batcher.h"
#include "codegen/graph/ports.h"

namespace fovea {

/// The values of the inputs of a score function (see ScoreFunction): `query` [batch, (heads,)
/// queries, width], `key` [.., keys, width], `cotangent` [.., queries, keys] where the function has
/// an input of the score's gradient.
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
    /// An output [batch, (heads,) queries, keys, …], of size 1 where pairs share it.
    Tensor output(const Port& port);
    /// Any value of the function, likewise.
    Tensor value(int id);
    /// [batch, (heads,) queries, keys]
    const Shape& pairs() const { return pairs_; }

  private:
    std::optional<Batched> leaf_or_contraction(int id);
    Batched leaf(const Node& node);
    Batched index(int axis);
    std::optional<Batched> look_up(const Node& node);
    std::optional<Batched> contraction(const Node& node);

    const Graph& function_;
    Graph& target_;
    PairLeaves leaves_;
    Shape pairs_;
    Batcher batcher_;
};

}  // namespace fovea
