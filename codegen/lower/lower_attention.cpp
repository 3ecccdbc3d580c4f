// Fused attention, forward: running maxima and sums of the rows over tiles of keys.
#include <limits>

#include "codegen/lower/attention_tiles.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::AxisId;
using kernel::Builder;
using kernel::Id;

namespace {

// The lowest float32: below every score, and finite, so that no difference is NaN.
constexpr double kHidden = -3.4028234663852886e38;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class Forward {
  public:
    Forward(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
            Memories& memories)
        : tiles_(graph, fused, group, memories, group.name), it_(tiles_.builder()) {}

    LoweredKernel run() {
        it_.each(tiles_.points(), [&] { it_.par(tiles_.q, [&] { rows(); }); });
        return tiles_.group().finish("output = softmax(scores) · value, scores of every key tile");
    }

  private:
    void rows() {
        tiles_.load_query();
        find_bounds();
        std::vector<Id> state{it_.named(it_.fill(kNoScore, {tiles_.q}), "largest"),
                              it_.named(it_.fill(0, {tiles_.q}), "total"),
                              it_.named(it_.fill(0, {tiles_.q, tiles_.e}), "output")};
        std::vector<Id> last =
            it_.tiles(tiles_.k, {lower_, upper_}, state,
                      [&](const std::vector<Id>& carried) { return key_tile(carried); });
        store(last[0], last[1], last[2]);
    }

    /// The keys that a row sees, from `lower_` to `upper_`, and `live_`: 0 where it sees none, and
    /// its weights are then equal.
    void find_bounds() {
        upper_ = tiles_.end_of_keys();
        lower_ = tiles_.first_key();
        const Id length = tiles_.has_lens() ? tiles_.lens() : -1;
        if (length >= 0)
            upper_ = upper_ < 0 ? length : it_.map(Elementwise::minimum, {upper_, length});
        if (tiles_.uniform() && tiles_.may_pass_keys())
            sees_none_ = tiles_.passes_keys(lower_, length);
        else if (tiles_.uniform() && length >= 0) sees_none_ = it_.le(length, it_.constant(0, i32));
        if (tiles_.marks_rows()) sees_none_ = sees_no_pair();
        if (sees_none_ >= 0) {
            it_.named(sees_none_, "sees_none");
            if (upper_ >= 0) upper_ = it_.where(sees_none_, tiles_.keys(), upper_);
            if (lower_ >= 0) lower_ = it_.where(sees_none_, it_.constant(0, i32), lower_);
            const Id zero = it_.constant(0), one = it_.constant(1);
            live_ = it_.named(it_.where(sees_none_, zero, one), "live");
        }
        if (tiles_.in_parts()) take_part();
    }

    /// Of the keys up to `upper_`, those of this part.
    void take_part() {
        const Id all = upper_ >= 0 ? upper_ : tiles_.keys();
        const Id part = it_.named(tiles_.keys_of_part(all), "keys_of_part");
        lower_ = it_.mul(tiles_.part(), part);
        upper_ = it_.map(Elementwise::minimum, {all, it_.add(lower_, part)});
        lower_ = it_.map(Elementwise::minimum, {lower_, upper_});
        it_.named(lower_, "first_key"), it_.named(upper_, "end_key");
    }

    Id sees_no_pair() {
        std::vector<Id> seen =
            it_.tiles(tiles_.k, {lower_, upper_}, {it_.named(it_.fill(0, {tiles_.q}), "seen")},
                      [&](const std::vector<Id>& carried) {
                          const Id keep = tiles_.seen_pairs();
                          const Id zero = it_.constant(0);
                          Id one = it_.where(keep, it_.constant(1), zero);
                          if (has_bounds()) one = it_.where(it_.valid(tiles_.k), one, zero);
                          const Id any = it_.max(one, {tiles_.k});
                          return std::vector<Id>{it_.map(Elementwise::maximum, {carried[0], any})};
                      });
        return it_.lt(seen[0], it_.constant(0.5));
    }

    std::vector<Id> key_tile(const std::vector<Id>& carried) {
        tiles_.load_key();
        Id scores = masked(tiles_.scores(live_));
        Id largest =
            it_.named(it_.map(Elementwise::maximum, {carried[0], it_.max(scores, {tiles_.k})}),
                      "new_largest");
        Id weights = it_.named(it_.map(Elementwise::exp2, {it_.sub(scores, largest)}), "weights");
        Id rescale =
            it_.named(it_.map(Elementwise::exp2, {it_.sub(carried[0], largest)}), "rescale");
        Id total = it_.mul(carried[1], rescale);
        total = it_.named(it_.add(total, it_.sum(weights, {tiles_.k})), "new_total");
        if (tiles_.attributes().dropout > 0)
            weights = it_.named(it_.mul(weights, tiles_.dropout()), "kept_weights");
        Id value = it_.named(tiles_.load(AttentionInput::value, tiles_.k, tiles_.e), "value");
        Id output = it_.mul(carried[2], rescale);
        output = it_.named(it_.add(output, it_.contract(weights, value, {tiles_.k})), "new_output");
        return {largest, total, output};
    }

    Id masked(Id scores) {
        if (tiles_.hides_pairs()) {
            Id keep = tiles_.seen_pairs();
            if (sees_none_ >= 0) keep = it_.map(Elementwise::logical_or, {keep, sees_none_});
            scores = it_.where(keep, scores, it_.constant(kHidden));
        }
        if (has_bounds()) {
            const Id valid = it_.valid(tiles_.k);
            scores = it_.where(valid, scores, it_.constant(kHidden));
        }
        return it_.named(scores, "seen_scores");
    }

    bool has_bounds() const { return lower_ >= 0 || upper_ >= 0; }
    bool has_mask() const { return has_bounds() || tiles_.hides_pairs(); }

    /// A row that sees keys, and all their scores -infinity, is NaN; without a mask the division
    /// by 0 says so. Where keys are in parts, those who join them say so.
    void store(Id largest, Id total, Id output) {
        Id factor = it_.div(it_.constant(1), total);
        if (has_mask()) {
            some_ = it_.lt(it_.constant(kNoScore), largest);
            const bool says_so = tiles_.uniform() && !tiles_.in_parts();
            factor = it_.where(some_, factor, it_.constant(says_so ? kNan : 0));
        }
        it_.named(factor, "over_total");
        if (int id = tiles_.find(AttentionResult::output); id >= 0)
            it_.store(tiles_.result(id, {tiles_.q, tiles_.e}), it_.mul(output, factor));
        if (int id = tiles_.find(AttentionResult::statistics); id >= 0)
            store_statistics(id, largest, total);
    }

    /// Where a row's pairs hide all its keys, they say so to the backward pass.
    void store_statistics(int id, Id largest, Id total) {
        Id log_total = it_.map(Elementwise::log2, {total});
        if (tiles_.in_parts()) log_total = it_.where(some_, log_total, it_.constant(0));
        else if (tiles_.marks_rows())
            largest = it_.where(sees_none_, it_.constant(kSeesNone), largest);
        it_.store(tiles_.statistics(id, 0, true), largest);
        it_.store(tiles_.statistics(id, 1, true), it_.named(log_total, "log_total"));
    }

    AttentionTiles tiles_;
    Builder& it_;
    Id lower_ = -1, upper_ = -1, sees_none_ = -1, live_ = -1, some_ = -1;
};

}  // namespace

LoweredKernel lower_attention(const Graph& graph, const fuse::FusedGraph& fused,
                              const fuse::Group& group, Memories& memories) {
    LoweredKernel lowered = Forward(graph, fused, group, memories).run();
    const Node& node = graph[group.anchor];
    lowered.kernel.ends_early = graph.attentions[std::size_t(node.attribute)].parts > 1;
    if (memories.has_halves()) take_factors(lowered.kernel, kernel::factors_of(memories.half()));
    return lowered;
}

}  // namespace fovea::lower
