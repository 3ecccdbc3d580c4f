#include "codegen/ops/attention/plain_attention.h"

#include "codegen/ops/attention/attention.h"
#include "codegen/ops/attention/fused_attention.h"
#include "codegen/ops/attention/grouped_heads.h"
#include "codegen/ops/attention/key_parts.h"
#include "codegen/ops/attention/mask_attributes.h"
#include "codegen/ops/attention/over_pairs.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace {

class PlainAttention {
  public:
    explicit PlainAttention(const Expansion& e)
        : e_(e), node_(e.node()), attributes_(e.source.attentions[std::size_t(node_.attribute)]) {
        leaves_.query = input(AttentionInput::query);
        leaves_.key = of_every_head(AttentionInput::key);
        for (int i = int(AttentionInput::first_capture); i < int(kMaxInputs); ++i)
            if (node_.inputs[std::size_t(i)] >= 0)
                leaves_.captures.push_back(e.inputs[std::size_t(i)]);
    }

    Tensor result() {
        OverPairs over(attributes_.function->forward, e_.target, leaves_);
        pairs_ = over.pairs();
        Tensor scores = broadcast(over.output({Role::score}), pairs_);
        Mask mask = ops::mask_of(e_.source, node_, e_.inputs);
        kept_ = kept_keys(e_.target, pairs_, mask);
        if (kept_.exists()) scores = masked(scores);
        if (attributes_.parts > 1) return result_of_parts(scores);
        if (node_.result == AttentionResult::statistics) return statistics(scores);
        if (node_.result == AttentionResult::output)
            return weighted_sum(dropped(weights(scores, statistics(scores))),
                                of_every_head(AttentionInput::value));
        return gradient(scores);
    }

  private:
    Tensor input(AttentionInput which) const { return e_.inputs[std::size_t(which)]; }
    /// Keys or values, which may lie as halves.
    Tensor of_every_head(AttentionInput which) const {
        return repeat_heads(cast(input(which), f32), input(AttentionInput::query).dim(1));
    }

    /// Hidden scores are lowest; all those of a row that sees nothing are 0.
    Tensor masked(Tensor scores) {
        Tensor hidden = where(kept_, scores, -kSeesNone);
        return where(seen() > 0.5, hidden, 0.0);
    }
    /// 1 for rows that see a key, else 0: [batch, (heads,) queries, 1].
    Tensor seen() {
        Tensor one = full(e_.target, pairs_, 1, f32);
        return amax(where(kept_, one, 0.0), -1, true);
    }
    /// Whether the statistics mark rows that see no key, as the forward kernel's do.
    bool marks_rows() const { return fovea::marks_rows(attributes_, node_.masked_rows); }
    Tensor statistics(Tensor scores) {
        Tensor largest = amax(scores, -1, true);
        Tensor total = sum(exp(scores - largest), -1, true);
        Tensor first = largest * kLog2e;
        if (marks_rows()) first = where(seen() > 0.5, first, kSeesNone);
        Tensor second = log(total) * kLog2e;
        auto as_row = [](Tensor x) { return unsqueeze(squeeze(x, x.rank() - 1), 0); };
        first = as_row(first);
        return concat(first, as_row(second), 0);
    }
    /// Row `which` of the statistics, [batch, (heads,) queries, 1].
    static Tensor row(Tensor statistics, int which) {
        Tensor one = squeeze(slice(statistics, 0, which, 1), 0);
        return unsqueeze(one, one.rank());
    }
    Tensor weights(Tensor scores, Tensor statistics) {
        Tensor largest = row(statistics, 0);
        if (marks_rows()) largest = where(largest < kSeesNone, largest, 0.0);
        Tensor p = exp2(scores * kLog2e - largest);
        p = p * exp2(-row(statistics, 1));

        return kept_.exists() && node_.masked_rows == MaskedRows::zero ? where(kept_, p, 0.0) : p;
    }
    Tensor dropped(Tensor p) {
        if (attributes_.dropout <= 0) return p;
        return p * random(e_.target, pairs_, attributes_.dropout, attributes_.site);
    }
    /// Σ over keys (or, transposed, over queries) of p[.., q, k] x[.., k, e].
    Tensor weighted_sum(Tensor p, Tensor x, bool transposed = false) {
        EinsumAxes axes;
        int leading = p.rank() - 2, query = leading, key = leading + 1, width = leading + 2;
        for (EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out})
            for (int i = 0; i < leading; ++i) list->push(i);
        axes.a.push(query), axes.a.push(key);
        axes.b.push(transposed ? query : key), axes.b.push(width);
        axes.out.push(transposed ? key : query), axes.out.push(width);
        return einsum(p, x, axes, node_.location);
    }
    /// Results of each part of the keys, side by side as heads: with [batch, heads, parts, queries,
    /// keys] in between.
    Tensor result_of_parts(Tensor scores) {
        const Tensor kept = kept_of_parts();
        const Tensor some = amax(where(kept, 1.0, 0.0), -1, true) > 0.5;
        scores = broadcast(unsqueeze(scores, 2), kept.shape());
        const Tensor largest = where(some, amax(where(kept, scores, -kSeesNone), -1, true), 0.0);
        const Tensor weights = where(kept, exp(scores - largest), 0.0);
        const Tensor total = where(some, sum(weights, -1, true), 1.0);
        if (node_.result == AttentionResult::output)
            return rearrange(einsum("b h p q k, b h k e -> b h p q e", weights / total,
                                    of_every_head(AttentionInput::value)),
                             "b h p q e -> b (h p) q e");
        const auto as_row = [](Tensor x) {
            return unsqueeze(rearrange(squeeze(x, 4), "b h p q -> b (h p) q"), 0);
        };
        return concat(as_row(where(some, largest * kLog2e, kNoScore)), as_row(log(total) * kLog2e),
                      0);
    }
    /// The keys that a part attends to.
    Tensor kept_of_parts() {
        Shape all{pairs_[0], pairs_[1], attributes_.parts, pairs_[2], pairs_[3]};
        const auto positions = [&](int axis) {
            Shape shape{1, 1, 1, 1, 1};
            shape[axis] = all[axis];
            return iota(e_.target, shape, axis);
        };
        const Tensor part = keys_of_part(keys_in_sight(), attributes_.parts);
        const Tensor first = positions(2) * part;
        Tensor kept = logical_and(first <= positions(4), positions(4) < first + part);
        if (kept_.exists()) {
            Tensor seen_keys = broadcast(kept_, pairs_);
            if (node_.masked_rows == MaskedRows::uniform)
                seen_keys = logical_or(seen_keys, broadcast(seen() < 0.5, pairs_));
            kept = logical_and(kept, unsqueeze(seen_keys, 2));
        }
        return broadcast(kept, all);
    }
    /// How many keys there are by the lengths; all of a row that sees none: [.., 1, queries, 1].
    Tensor keys_in_sight() {
        const Tensor keys = iota(e_.target, {1, 1, 1, 1, 1}, 4) + pairs_[3].without_label();
        Tensor lens = input(AttentionInput::lens);
        if (!lens.exists()) return keys;
        lens = lens.rank() == 1 ? place_axes(lens, 5, {0}) : place_axes(lens, 5, {0, 3});
        if (node_.masked_rows == MaskedRows::zero) return lens;
        return where(unsqueeze(seen(), 2) > 0.5, lens, keys);
    }
    Tensor gradient(Tensor scores) {
        Tensor dy = input(AttentionInput::cotangent), v = of_every_head(AttentionInput::value);
        Tensor p = weights(scores, input(AttentionInput::statistics));
        if (node_.result == AttentionResult::value) return weighted_sum(dropped(p), dy, true);
        auto order = FixedArray<signed char, Shape::kMaxRank>{0, 1, 2, 3};
        std::swap(order[std::size_t(v.rank() - 2)], order[std::size_t(v.rank() - 1)]);
        Tensor of_weights = dropped(weighted_sum(dy, permute(v, order)));
        Tensor delta = unsqueeze(input(AttentionInput::delta), dy.rank() - 1);

        Tensor of_scores = p * (of_weights - delta);
        leaves_.cotangent = kept_.exists() ? where(kept_, of_scores, 0.0) : of_scores;
        OverPairs over(attributes_.function->gradient, e_.target, leaves_);
        return summed(over);
    }
    /// What the pairs give, added up over the keys, the queries, or both.
    Tensor summed(OverPairs& over) {
        int query = pairs_.rank() - 2, key = query + 1;
        if (node_.result == AttentionResult::query)
            return sum(whole(over.output({Role::query, 0, true})), key);
        if (node_.result == AttentionResult::key)
            return sum(whole(over.output({Role::key, 0, true})), query);
        CaptureGradient capture = capture_gradient(*attributes_.function, node_.axis);
        return sum(sum(whole(over.value(capture.node)), key), query);
    }
    /// With the axes of the pairs at full size.
    Tensor whole(Tensor x) {
        Shape shape = x.shape();
        for (int i = 0; i < pairs_.rank(); ++i) shape[i] = pairs_[i];
        return broadcast(x, shape);
    }

    const Expansion& e_;
    const Node& node_;
    const AttentionAttributes& attributes_;
    PairLeaves leaves_;
    Shape pairs_;
    Tensor kept_;
};

}  // namespace

Tensor plain_attention(const Expansion& e) { return PlainAttention(e).result(); }

}  // namespace fovea
