// Fused attention, backward: for every tile of keys the tiles of queries that see it, the weights
// computed again from the rows' statistics (Dao 2023, algorithm 2), in five contractions for a
// dot-product score. Where tiles must not wait for each other, the gradient of the queries is a
// kernel of its own, which goes over the keys that each tile of queries sees.
#include "codegen/kernel/rewrites/share_tiles.h"
#include "codegen/lower/attention_tiles.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::AxisId;
using kernel::Builder;
using kernel::Id;

namespace {

/// The gradients that one kernel computes: all of them, or those of one side; `captures`, which
/// are sums over all tiles, go over these in order.
enum class Side { all, keys, queries, captures };

const char* suffix_of(Side side) {
    switch (side) {
        case Side::queries: return "_of_queries";
        case Side::captures: return "_of_captures";
        default: return "";
    }
}

class Backward {
  public:
    Backward(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
             Memories& memories, Side side)
        : graph_(graph),
          tiles_(graph, fused, group, memories, group.name + suffix_of(side)),
          it_(tiles_.builder()),
          side_(side) {
        if (has(Side::queries)) query_gradient_ = tiles_.find(AttentionResult::query);
        find_carried();
    }

    /// Whether any of the gradients is wanted.
    bool is_wanted() const { return query_gradient_ >= 0 || !carried_.empty(); }

    LoweredKernel run() {
        it_.each(tiles_.points(), [&] {
            find_length();
            if (side_ == Side::keys) it_.par(tiles_.k, [&] { key_tile({}); });
            else if (side_ == Side::queries) it_.par(tiles_.q, [&] { query_rows(); });
            else sequence();
        });
        return tiles_.group().finish("gradients of softmax(scores) · value");
    }

  private:
    bool has(Side side) const { return side_ == Side::all || side_ == side; }

    /// A gradient that the loop over queries carries: its axes, and its value's sum so far.
    struct Carried {
        int id = -1;
        AttentionResult result;
        int number = 0;
        std::vector<AxisId> axes;  // of what is stored
        bool over_keys = false;    // summed over the tiles of keys, too
    };

    void find_length() {
        length_ = tiles_.has_lens() && !tiles_.lens_by_query() ? tiles_.lens() : -1;
        if (length_ >= 0 && tiles_.uniform())
            none_ = it_.named(it_.le(length_, it_.constant(0, i32)), "sees_none");
    }

    void sequence() {
        if (query_gradient_ >= 0)
            it_.tiles(tiles_.q, {}, {}, [&](const std::vector<Id>&) {
                it_.store(tiles_.result(query_gradient_, {tiles_.q, tiles_.d}),
                          it_.fill(0, {tiles_.q, tiles_.d}));
                return std::vector<Id>{};
            });
        std::vector<Id> state;
        for (const Carried& carried : carried_)
            if (carried.over_keys) state.push_back(it_.named(zero(carried), name(carried)));
        std::vector<Id> last = it_.tiles(
            tiles_.k, {}, state, [&](const std::vector<Id>& outer) { return key_tile(outer); });
        std::size_t at = 0;
        for (const Carried& carried : carried_)
            if (carried.over_keys) it_.store(tiles_.result(carried.id, carried.axes), last[at++]);
    }

    void find_carried() {
        auto add = [&](AttentionResult result, int number, std::vector<AxisId> axes,
                       bool over_keys) {
            int id = tiles_.find(result, number);
            if (id >= 0) carried_.push_back({id, result, number, std::move(axes), over_keys});
        };
        if (has(Side::keys)) {
            add(AttentionResult::key, 0, {tiles_.k, tiles_.c}, false);
            add(AttentionResult::value, 0, {tiles_.k, tiles_.e}, false);
        }
        for (int n = 0; n < kMaxCaptures && has(Side::captures); ++n) {
            if (tiles_.find(AttentionResult::capture, n) < 0) continue;
            add(AttentionResult::capture, n, axes_of(capture_gradient(tiles_.function(), n).shape),
                true);
        }
    }

    /// Along the vectors' axis where that has the size, else along axes of their own.
    std::vector<AxisId> axes_of(const Shape& shape) {
        std::vector<AxisId> axes;
        bool taken = false;
        for (const Dim& dim : shape) {
            bool same = it_.kernel().axes[std::size_t(tiles_.d)].extent == dim.without_label();
            if (dim.is_one()) axes.push_back(kNoAxis);
            else if (same && !taken) axes.push_back(tiles_.d);
            else axes.push_back(it_.axis("c" + std::to_string(axes.size()), dim));
            taken = taken || axes.back() == tiles_.d;
        }
        return axes;
    }

    std::vector<Id> key_tile(const std::vector<Id>& outer) {
        load_keys();
        find_bounds();
        std::vector<Id> state;
        std::size_t at = 0;
        for (const Carried& carried : carried_)
            state.push_back(carried.over_keys ? outer[at++]
                                              : it_.named(zero(carried), name(carried)));
        std::vector<Id> last =
            it_.tiles(tiles_.q, {lower_, upper_}, state,
                      [&](const std::vector<Id>& inner) { return query_tile(inner); });
        std::vector<Id> next;
        for (std::size_t i = 0; i < carried_.size(); ++i) {
            if (carried_[i].over_keys) next.push_back(last[i]);
            else it_.store(tiles_.result(carried_[i].id, carried_[i].axes), last[i]);
        }
        return next;
    }

    void load_keys() {
        tiles_.load_key();
        value_ = it_.named(tiles_.load(AttentionInput::value, tiles_.k, tiles_.e), "value");
    }
    void load_queries() {
        tiles_.load_query();
        cotangent_ =
            it_.named(tiles_.load(AttentionInput::cotangent, tiles_.q, tiles_.e), "cotangent");
        delta_ = it_.named(tiles_.load_delta(), "delta");
        largest_ = it_.named(tiles_.load_statistics(0), "largest");
        log_total_ = it_.named(tiles_.load_statistics(1), "log_total");
    }

    /// The gradient of a tile of queries, over the keys that it sees.
    void query_rows() {
        load_queries();
        find_bounds_of_keys();
        const Id zero = it_.named(it_.fill(0, {tiles_.q, tiles_.d}), "query_gradient");
        const std::vector<Id> last =
            it_.tiles(tiles_.k, {lower_, upper_}, {zero}, [&](const std::vector<Id>& carried) {
                load_keys();
                find_weights();
                PairTiles pairs = tiles_.pairs(tiles_.function().gradient);
                return std::vector<Id>{
                    it_.named(it_.add(carried[0], query_part(pairs)), "query_gradient_so_far")};
            });
        it_.store(tiles_.result(query_gradient_, {tiles_.q, tiles_.d}), last[0]);
    }

    Id zero(const Carried& carried) {
        std::vector<AxisId> axes;
        for (AxisId axis : carried.axes)
            if (axis != kNoAxis) axes.push_back(axis);
        return it_.fill(0, axes);
    }
    static const char* name(const Carried& carried) {
        if (carried.result == AttentionResult::capture) return "capture_gradient";
        return carried.result == AttentionResult::key ? "key_gradient" : "value_gradient";
    }

    /// Whether each pair says by itself that it counts, since what rows see differs.
    bool masks_by_row() const {
        return tiles_.marks_rows() ||
               ((tiles_.lens_by_query() || tiles_.may_pass_keys()) && tiles_.uniform());
    }

    /// The keys that a query sees: those of its window, none past the length; all of them where it
    /// sees none.
    void find_bounds_of_keys() {
        if (masks_by_row()) return;
        lower_ = tiles_.first_key();
        upper_ = tiles_.end_of_keys();
        if (length_ >= 0)
            upper_ = upper_ < 0 ? length_ : it_.map(Elementwise::minimum, {upper_, length_});
        if (none_ < 0) return;
        if (upper_ >= 0) upper_ = it_.where(none_, tiles_.keys(), upper_);
        if (lower_ >= 0) lower_ = it_.where(none_, it_.constant(0, i32), lower_);
    }

    /// The queries that see a key: those whose window it is in, none past the length. Rows that see
    /// nothing see every key with weight 1 / keys.
    void find_bounds() {
        lower_ = upper_ = -1;
        if (masks_by_row()) return;
        lower_ = tiles_.first_query();
        if (lower_ >= 0 && none_ >= 0) lower_ = it_.where(none_, it_.constant(0, i32), lower_);
        upper_ = tiles_.end_of_queries();
        if (length_ < 0) return;
        if (upper_ < 0)
            upper_ = it_.extent(graph_[tiles_.node().inputs[0]].shape[-2].without_label(), i32);
        Id sees = it_.lt(it_.index(tiles_.k), length_);
        if (none_ >= 0) sees = it_.map(Elementwise::logical_or, {sees, none_});
        upper_ = it_.where(sees, upper_, it_.constant(0, i32));
    }

    /// Of a tile of queries and one of keys: the weights that dropout kept, and the gradient of
    /// their scores.
    void find_weights() {
        const Id weights = weights_again();
        Id of_weights = it_.named(it_.contract(cotangent_, value_, {tiles_.e}), "weights_gradient");
        kept_ = weights;
        if (tiles_.attributes().dropout > 0) {
            Id dropout = tiles_.dropout();
            of_weights = it_.mul(of_weights, dropout);
            if (has(Side::keys)) kept_ = it_.named(it_.mul(weights, dropout), "kept_weights");
        }
        tiles_.score_gradient = it_.mul(weights, it_.sub(of_weights, delta_));
        // Not a product with 0: the gradient of such a row may be infinite.
        if (live_ >= 0)
            tiles_.score_gradient = it_.where(blind_, it_.constant(0), tiles_.score_gradient);
        it_.named(tiles_.score_gradient, "score_gradient");
    }

    std::vector<Id> query_tile(const std::vector<Id>& carried) {
        load_queries();
        find_weights();
        PairTiles pairs = tiles_.pairs(tiles_.function().gradient);
        std::vector<Id> next;
        for (std::size_t i = 0; i < carried_.size(); ++i)
            next.push_back(it_.named(it_.add(carried[i], part_of(carried_[i], pairs)),
                                     std::string(name(carried_[i])) + "_so_far"));
        if (query_gradient_ >= 0)
            it_.accumulate(tiles_.result(query_gradient_, {tiles_.q, tiles_.d}),
                           it_.named(query_part(pairs), "query_gradient"));
        return next;
    }

    /// What a tile of keys adds to the gradient of one of queries.
    Id query_part(PairTiles& pairs) {
        return pairs.sum_of_output({Role::query, 0, true}, {tiles_.d}, {tiles_.k});
    }
    Id part_of(const Carried& carried, PairTiles& pairs) {
        if (carried.result == AttentionResult::value)
            return it_.contract(kept_, cotangent_, {tiles_.q});
        if (carried.result == AttentionResult::key)
            return pairs.sum_of_output({Role::key, 0, true}, {tiles_.c}, {tiles_.q});
        return pairs.sum_of_output({Role::capture, carried.number, true}, carried.axes,
                                   {tiles_.q, tiles_.k});
    }

    /// Whether a row sees no key, where that differs from row to row: the forward pass has said so,
    /// or its window and its length do.
    Id sees_none(Id start, Id length) {
        if (tiles_.marks_rows()) return it_.le(it_.constant(kSeesNone), largest_);
        if (tiles_.may_pass_keys()) return tiles_.passes_keys(start, length);
        return it_.le(length, it_.constant(0, i32));
    }

    /// exp2(scores - largest - log_total), 0 where a key is hidden.
    Id weights_again() {
        Id keep = -1, none = none_;
        auto also = [&](Id condition) {
            keep = keep < 0 ? condition : it_.map(Elementwise::logical_and, {keep, condition});
        };
        const bool by_row = masks_by_row();
        Id length = -1;
        if (tiles_.has_lens() && (tiles_.lens_by_query() || by_row)) {
            length = tiles_.lens_by_query() ? tiles_.lens() : length_;
            also(it_.lt(it_.index(tiles_.k), length));
        }
        if (tiles_.hides_pairs()) also(tiles_.seen_pairs());
        if (by_row) {
            const Id start = tiles_.first_key(), end = tiles_.end_of_keys();
            if (start >= 0) also(it_.le(start, it_.index(tiles_.k)));
            if (end >= 0) also(it_.lt(it_.index(tiles_.k), end));
            none = sees_none(start, length);
            keep = it_.map(Elementwise::logical_or, {keep, none});
        }
        if (none >= 0) {
            const Id zero = it_.constant(0), one = it_.constant(1);
            live_ = it_.named(it_.where(none, zero, one), "live");
            blind_ = none;
        }
        Id scores = tiles_.scores(live_);
        Id weights = it_.map(Elementwise::exp2, {it_.sub(it_.sub(scores, largest_), log_total_)});
        it_.named(weights, "unmasked_weights");
        if (tiles_.marks_rows()) {
            const Id one = it_.constant(1), keys = tiles_.keys(f32);
            weights = it_.where(none, it_.div(one, keys), weights);
        }
        if (keep >= 0) weights = it_.where(keep, weights, it_.constant(0));
        if (lower_ >= 0 || upper_ >= 0) {
            const Id valid = it_.valid(side_ == Side::queries ? tiles_.k : tiles_.q);
            weights = it_.where(valid, weights, it_.constant(0));
        }
        return it_.named(weights, "weights");
    }

    const Graph& graph_;
    AttentionTiles tiles_;
    Builder& it_;
    const Side side_;
    std::vector<Carried> carried_;
    int query_gradient_ = -1;
    Id blind_ = -1;  // whether a row sees no key, and `live_` is 0
    Id length_ = -1, none_ = -1, live_ = -1, lower_ = -1, upper_ = -1;
    Id value_ = -1, cotangent_ = -1, delta_ = -1, largest_ = -1, log_total_ = -1, kept_ = -1;
};

}  // namespace

std::vector<LoweredKernel> lower_attention_gradient(const Graph& graph,
                                                    const fuse::FusedGraph& fused,
                                                    const fuse::Group& group, Memories& memories) {
    std::vector<Side> sides{Side::all};
    if (memories.target().independent_tiles) sides = {Side::keys, Side::queries, Side::captures};
    std::vector<LoweredKernel> lowered;
    for (const Side side : sides) {
        Backward backward(graph, fused, group, memories, side);
        if (!backward.is_wanted()) continue;
        lowered.push_back(backward.run());
        kernel::share_tiles(lowered.back().kernel);
        if (memories.has_halves())
            take_factors(lowered.back().kernel, kernel::factors_of(memories.half()));
    }
    return lowered;
}

}  // namespace fovea::lower
