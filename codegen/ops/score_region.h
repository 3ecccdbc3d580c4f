// The score of one (query, key) pair, applied to all pairs at once.
#pragma once

#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea {

/// Builds the scores [batch, (heads,) queries, keys] of an attention node from its score region:
/// every value of the region gets the axes of the pairs in front, of size 1 where it does not
/// depend on them. Sums of products become einsums. UserError for an op that a score cannot use.
class ScoreRegion {
  public:
    explicit ScoreRegion(const Expansion& expansion);
    Tensor scores();

  private:
    /// A value of the region; `paired`: the axes of the pairs stand in front of its own.
    struct Value {
        Tensor tensor;
        bool paired = false;
    };

    Value build(int id);
    Value build_pair(const Node& node);
    Value build_elementwise(int id);
    Value build_reduce(int id);
    Value build_rearrange(const Node& node);
    Value build_einsum(const Node& node);
    Value build_gather(const Node& node);
    Value build_along_axis(const Node& node);
    Value build_plain(const Node& node);
    Value value_of(int id) const;
    Tensor aligned(const Value& value, int own_rank, int rank) const;
    Tensor with_pairs(const Value& value) const;
    [[noreturn]] void refuse(const Node& node, const char* why) const;

    const Expansion& expansion_;
    const AttentionAttributes& attributes_;
    Graph& target_;
    Shape pairs_;  // [batch, (heads,) queries, keys]
    std::vector<Value> values_;
};

}  // namespace fovea
