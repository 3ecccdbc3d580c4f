// What the kernels of a fused attention, forward and backward, have in common.
#pragma once

#include <string>
#include <vector>

#include "codegen/lower/group_builder.h"
#include "codegen/lower/pair_tiles.h"
#include "codegen/ops/attention/fused_attention.h"

namespace fovea::lower {

/// Axes, inputs and mask of one fused attention. Positions: b batch, h head of the keys, m head of
/// queries among those that read it, or part of its keys, q query, k key, d in the vectors of
/// queries, c in those of keys (d, where they are as wide), e in those of values.
class AttentionTiles {
  public:
    /// Of a kernel with this name.
    AttentionTiles(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                   Memories& memories, std::string name);

    kernel::Builder& builder() { return build_.builder(); }
    GroupBuilder& group() { return build_; }
    const Node& node() const { return node_; }
    const AttentionAttributes& attributes() const { return attributes_; }
    const ScoreFunction& function() const { return *attributes_.function; }

    kernel::AxisId b, h, m, q, k, d, c, e;
    /// b, h and m, those that are longer than 1; parts first, of which the last may be empty.
    std::vector<kernel::AxisId> points() const;
    /// The axes of [batch, (heads of queries,) rows, columns]; `row` and `column` may be kNoAxis.
    std::vector<kernel::AxisId> axes(kernel::AxisId row, kernel::AxisId column) const;
    /// Input `which` at (b, its head, row, column).
    kernel::Id load(AttentionInput which, kernel::AxisId row, kernel::AxisId column);
    /// Σ output · its gradient at (b, head, q).
    kernel::Id load_delta();
    /// Row `which` of the statistics at (b, head, q).
    kernel::Id load_statistics(int which);
    /// Where row `which` of the statistics lies, node `id`.
    kernel::Access statistics(int id, int which, bool written);

    /// Where a result of the group lies; `own` are the axes after batch and heads.
    kernel::Access result(int id, const std::vector<kernel::AxisId>& own);
    /// The result of this kind (and number), or -1.
    int find(AttentionResult result, int number = 0) const;

    /// The tiles of queries and keys in scope, and of the scores' gradient, that scores are made
    /// of.
    kernel::Id query = -1, key = -1, score_gradient = -1;
    void load_query();
    void load_key();
    /// The score function's forward or gradient graph over these tiles.
    PairTiles pairs(const Graph& function);
    /// The scores {q, k}, base 2 (machines have exp2), times `live` (-1: none).
    kernel::Id scores(kernel::Id live);

    /// The factor of dropout of the weights {q, k}.
    kernel::Id dropout();

    /// Whether every row that sees nothing is known from the lengths alone, in front of the loops.
    bool has_lens() const { return lens_rank_ > 0; }
    bool lens_by_query() const { return lens_rank_ == 2; }
    bool has_segments() const { return attributes_.has_segments; }
    /// Whether pairs are hidden one by one.
    bool hides_pairs() const { return attributes_.has_allowed || has_segments(); }
    /// Whether only its pairs say that a row sees nothing.
    bool marks_rows() const { return fovea::marks_rows(attributes_, node_.masked_rows); }
    bool uniform() const { return node_.masked_rows == MaskedRows::uniform; }
    /// valid_lens at this sequence {} or query {q}.
    kernel::Id lens();
    /// The first key that a query sees by its window and its segment, and the one behind the last
    /// {q}; -1: there is no end.
    kernel::Id first_key();
    kernel::Id end_of_keys();
    /// The first query that sees a key by these, and the one behind the last {k}.
    kernel::Id first_query();
    kernel::Id end_of_queries();
    /// Whether the window of a late query may lie behind all keys, so that it sees none.
    bool may_pass_keys() const;
    /// Whether the window of a query, which starts at `start`, does so behind the keys, or behind
    /// `length` of them (-1: all).
    kernel::Id passes_keys(kernel::Id start, kernel::Id length);
    /// Whether neither the boolean tensor nor the segments hide a pair {q, k}.
    kernel::Id seen_pairs();
    /// How many keys there are.
    kernel::Id keys(DType dtype = i32);
    /// Whether the kernel takes the keys in parts, which one this is, and how many keys of `keys`
    /// are its own (key_parts.h).
    bool in_parts() const { return attributes_.parts > 1; }
    kernel::Id part() { return builder().index(m); }
    kernel::Id keys_of_part(kernel::Id keys);

  private:
    kernel::Id allowed();
    /// `which` of the segments of positions along `axis` {axis}.
    kernel::Id segment(AttentionInput which, kernel::AxisId axis);
    /// The larger, or smaller, of two bounds, where there are both.
    kernel::Id tighter(Elementwise function, kernel::Id one, kernel::Id other);
    /// The position along `axis` less a distance, at least 0; and that behind one so far away.
    kernel::Id behind_start(kernel::AxisId axis, std::int64_t distance);
    kernel::Id behind(kernel::AxisId axis, std::int64_t distance);
    /// An access that moves along every one of `axes`: those of size 1 have no stride in a layout.
    /// kHeads stands for the heads of queries.
    kernel::Access access(int id, const std::vector<kernel::AxisId>& axes, bool written);
    int input(AttentionInput which) const { return node_.inputs[std::size_t(int(which))]; }
    kernel::AxisId axis(const std::string& name, const Dim& dim);
    /// Which head of queries: h · members_ + m.
    kernel::Id head();
    kernel::Id leaf(const Node& input, const TileAxes& own);

    const Graph& graph_;
    const fuse::Group& group_;
    const Node& node_;
    const AttentionAttributes& attributes_;
    GroupBuilder build_;
    Dim members_ = 1;  // query heads that read one head of keys, or parts of its keys
    int lens_rank_ = 0;
};

/// Lets the products of a kernel take halves, where a target multiplies matrices of them.
void take_factors(kernel::Kernel& kernel, kernel::Factors factors);

}  // namespace fovea::lower
