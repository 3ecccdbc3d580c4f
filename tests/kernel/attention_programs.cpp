#include "tests/kernel/attention_programs.h"

#include <cmath>

#include "codegen/kernel/builder.h"

namespace fovea::test {

using namespace kernel;
using E = Elementwise;

namespace {

constexpr int kHeads = 2;
constexpr double kLog2e = 1.4426950408889634;
constexpr double kMasked = -1e30, kLowestMaximum = -1e29;

/// What forward and backward share: axes, buffers, bounds and the score.
class Program {
  public:
    Program(const AttentionVariant& variant, const std::string& suffix, const char* formula)
        : variant_(variant),
          it(variant.name + suffix, formula, {"attention.cpp:12"}),
          batch(it.axis("b", variant.batch)),
          head(it.axis("h", kHeads)),
          q(it.axis("q", variant.queries)),
          k(it.axis("k", variant.keys)),
          d(it.axis("d", variant.width)),
          e(it.axis("e", variant.value_width)) {}

    const AttentionVariant& variant_;
    Builder it;
    AxisId batch, head, q, k, d, e;
    int queries = 0, keys = 0, values = 0, lengths = 0, slopes = 0, weights = 0, allowed = 0,
        biases = 0;

    int tensor(const char* name, const Dim& length, const Dim& width, bool written) {
        const std::vector<Dim> shape =
            variant_.heads_inside ? std::vector<Dim>{variant_.batch, length, kHeads, width}
                                  : std::vector<Dim>{variant_.batch, kHeads, length, width};
        return it.buffer(name, DType::f32, shape, written);
    }
    Access tile(int buffer, AxisId row, AxisId column) {
        return variant_.heads_inside ? it.at(buffer, {batch, row, head, column})
                                     : it.at(buffer, {batch, head, row, column});
    }

    void add_inputs() {
        queries = tensor("Q", variant_.queries, variant_.width, false);
        keys = tensor("K", variant_.keys, variant_.width, false);
        values = tensor("V", variant_.keys, variant_.value_width, false);
    }
    void add_variant_inputs() {
        if (variant_.lengths == AttentionVariant::Lengths::sequences)
            lengths = it.input("lens", {variant_.batch}, i32);
        if (variant_.lengths == AttentionVariant::Lengths::queries)
            lengths = it.input("lens", {variant_.batch, variant_.queries}, i32);
        if (variant_.alibi) slopes = it.input("slopes", {kHeads});
        if (variant_.bias)
            biases = it.input("bias", {variant_.batch, kHeads, variant_.queries, variant_.keys});
        if (variant_.additive) weights = it.input("w", {variant_.width});
        if (variant_.allowed)
            allowed = it.input("allowed", {variant_.batch, variant_.queries, variant_.keys},
                               DType::boolean);
    }

    /// The number of keys before the first that a query must not see.
    Id keys_end() {
        Id end = it.extent(variant_.keys, i32);
        if (variant_.lengths == AttentionVariant::Lengths::sequences)
            end = it.named(it.map(E::minimum, {end, it.load(it.at(lengths, {batch}))}), "length");
        if (variant_.lengths == AttentionVariant::Lengths::queries)
            end = it.map(E::minimum, {end, it.load(it.at(lengths, {batch, q}))});
        if (variant_.causal) {
            const Id at = it.index(q), one = it.constant(1, i32);
            end = it.map(E::minimum, {end, it.named(it.add(at, one), "seen")});
        }
        return end;
    }
    Id keys_from() {
        if (!variant_.window) return -1;
        const Id at = it.index(q);
        return it.sub(at, it.constant(variant_.window - 1, i32));
    }

    /// The score of (q, k), and what its derivative needs: the slope of the soft cap, tanh.
    struct Score {
        Id value = -1, distance = -1, capped = -1, tanh = -1;
    };
    /// `live` is 1 or 0 for rows of which the scores count, or -1.
    Score score(Id query, Id key, Id live) {
        Score result;
        if (variant_.additive) {
            result.tanh = it.map(E::tanh, {it.add(query, key)});
            result.value = it.sum(it.mul(it.load(it.at(weights, {d})), result.tanh), {d});
        } else {
            const double scale = 1 / std::sqrt(double(variant_.width.value()));
            result.value = it.named(it.contract(query, key, {d}), "score");
            result.value = it.mul(result.value, it.constant(scale));
        }
        result.value = times(result.value, live);
        if (variant_.soft_cap) {
            result.value = it.mul(result.value, it.constant(1 / variant_.soft_cap));
            result.capped = it.named(it.map(E::tanh, {result.value}), "capped");
            result.value = it.mul(result.capped, it.constant(variant_.soft_cap));
        }
        if (variant_.alibi) {
            const Id key_at = it.index(k), query_at = it.index(q);
            result.distance = it.sub(key_at, query_at);
            result.distance = it.mul(result.distance, it.constant(1.0 / 16));
            result.value =
                it.add(result.value, it.mul(it.load(it.at(slopes, {head})), result.distance));
        }
        if (variant_.bias)
            result.value = it.add(result.value, it.load(it.at(biases, {batch, head, q, k})));
        return result;
    }
    struct Rows {
        Id end = -1, live = -1;
    };
    /// With the uniform policy, rows without keys go over all keys, with a score of 0.
    Rows rows() {
        const Id end = keys_end();
        if (!variant_.uniform) return {end, -1};
        const Id sees = it.lt(it.constant(0, i32), end);
        const Id one = it.constant(1), zero = it.constant(0);
        const Id live = it.where(sees, one, zero);
        return {it.where(sees, end, it.extent(variant_.keys, i32)), it.named(live, "live")};
    }
    Id allow(Id value, Id otherwise) {
        if (!variant_.allowed) return value;
        return it.where(it.load(it.at(allowed, {batch, q, k})), value, otherwise);
    }
    /// Dropout's factor of the weight (q, k), or -1.
    Id factor() {
        if (!variant_.dropout) return -1;
        return it.named(
            it.random(3, variant_.dropout,
                      {{batch, variant_.queries * kHeads}, {head, variant_.queries}, {q, 1}},
                      {{k, 1}}),
            "factor");
    }
    Id times(Id value, Id factor) { return factor < 0 ? value : it.mul(value, factor); }
};

}  // namespace

Kernel attention_forward(const AttentionVariant& variant) {
    Program p(variant, "_forward", "O = softmax(score(Q, K)) V");
    Builder& it = p.it;
    p.add_inputs();
    p.add_variant_inputs();
    const int output = p.tensor("O", variant.queries, variant.value_width, true);
    const int logarithms = it.output("L", {p.variant_.batch, kHeads, p.variant_.queries});
    it.each({p.batch, p.head}, [&] {
        it.par(p.q, [&] {
            const Id query = it.named(it.load(p.tile(p.queries, p.q, p.d)), "query");
            const Id from = p.keys_from();
            const auto [end, live] = p.rows();
            const Id m = it.named(it.fill(kLowestMaximum, {p.q}), "largest");
            const Id l = it.named(it.fill(0, {p.q}), "total");
            const Id o = it.named(it.fill(0, {p.q, p.e}), "output");
            const Builder::Bounds bounds{from, end};
            const auto body = [&, seen = live](auto carried) {
                const Id key = it.named(it.load(p.tile(p.keys, p.k, p.d)), "key");
                const Id masked = it.constant(kMasked);
                const Id score = p.score(query, key, seen).value;
                Id s = it.mul(p.allow(score, masked), it.constant(kLog2e));
                s = it.named(it.where(it.valid(p.k), s, masked), "s");
                const Id tile_largest = it.named(it.max(s, {p.k}), "tile_largest");
                const Id largest =
                    it.named(it.map(E::maximum, {carried[0], tile_largest}), "new_largest");
                const Id weight = it.named(it.map(E::exp2, {it.sub(s, largest)}), "p");
                const Id alpha = it.named(it.map(E::exp2, {it.sub(carried[0], largest)}), "alpha");
                const Id tile_total = it.named(it.sum(weight, {p.k}), "tile_total");
                const Id total =
                    it.named(it.add(it.mul(carried[1], alpha), tile_total), "new_total");
                const Id value = it.named(it.load(p.tile(p.values, p.k, p.e)), "value");
                const Id used =
                    it.named(p.times(weight, p.factor()), variant.dropout ? "kept" : "p");
                const Id before = it.mul(carried[2], alpha);
                const Id sum = it.add(before, it.contract(used, value, {p.k}));
                return std::vector<Id>{largest, total, it.named(sum, "new_output")};
            };
            const std::vector<Id> result = it.tiles(p.k, bounds, {m, l, o}, body);
            const Id zero = it.constant(0), one = it.constant(1);
            const Id sees = it.lt(zero, result[1]), inverse = it.div(one, result[1]);
            const Id share = it.named(it.where(sees, inverse, zero), "share");
            it.store(p.tile(output, p.q, p.e), it.mul(result[2], share));
            it.store(it.at(logarithms, {p.batch, p.head, p.q}),
                     it.add(result[0], it.map(E::log2, {result[1]})));
        });
    });
    return it.finish();
}

namespace {

/// The loop over queries inside of that over keys, and the stores after it.
class Backward {
  public:
    explicit Backward(const AttentionVariant& variant)
        : p(variant, "_backward", "dQ, dK, dV from dO, the scores computed again"),
          it(p.it),
          variant_(variant) {}

    Kernel build() {
        p.add_inputs();
        output = variant_.given_delta
                     ? it.input("delta", {variant_.batch, kHeads, variant_.queries})
                     : p.tensor("O", variant_.queries, variant_.value_width, false);
        logarithms = it.input("L", {p.variant_.batch, kHeads, p.variant_.queries});
        gradient = p.tensor("dO", variant_.queries, variant_.value_width, false);
        p.add_variant_inputs();
        dq = p.tensor("dQ", variant_.queries, variant_.width, true);
        dk = p.tensor("dK", variant_.keys, variant_.width, true);
        dv = p.tensor("dV", variant_.keys, variant_.value_width, true);
        if (variant_.bias)
            dbias = it.output("dbias", {variant_.batch, kHeads, variant_.queries, variant_.keys});
        if (variant_.alibi) dslope = it.output("dslope", {variant_.batch, kHeads});
        if (variant_.additive) dw = it.output("dw", {variant_.batch, kHeads, variant_.width});
        it.each({p.batch, p.head}, [&] { task(); });
        return it.finish();
    }

  private:
    void task() {
        it.tiles(p.q, {}, {}, [&](auto) {
            it.store(p.tile(dq, p.q, p.d), it.fill(0, {p.q, p.d}));
            return std::vector<Id>{};
        });
        std::vector<Id> initial;
        if (variant_.alibi) initial.push_back(it.named(it.fill(0, {}), "slope_sum"));
        if (variant_.additive) initial.push_back(it.named(it.fill(0, {p.d}), "w_sum"));
        const std::vector<Id> sums =
            it.tiles(p.k, {}, initial, [&](auto carried) { return keys(carried); });
        if (variant_.alibi) it.store(it.at(dslope, {p.batch, p.head}), sums[0]);
        if (variant_.additive) it.store(it.at(dw, {p.batch, p.head, p.d}), sums.back());
    }

    /// Of the queries that see a key: the first, and the end.
    Builder::Bounds queries() {
        const Id count = it.extent(variant_.queries, i32);
        Builder::Bounds bounds;
        if (variant_.causal || variant_.window) bounds.lower = it.index(p.k);
        if (variant_.causal && variant_.uniform) {  // rows without keys see those behind them, too
            const Id length = it.load(it.at(p.lengths, {p.batch})), zero = it.constant(0, i32);
            bounds.lower = it.where(it.le(length, zero), zero, bounds.lower);
        }
        Id end = count;
        if (variant_.window) {
            const Id at = it.index(p.k), window = it.constant(variant_.window, i32);
            end = it.map(E::minimum, {end, it.add(at, window)});
        }
        if (variant_.lengths == AttentionVariant::Lengths::sequences) {
            const Id length = it.load(it.at(p.lengths, {p.batch})), zero = it.constant(0, i32);
            Id seen = it.lt(it.index(p.k), length);
            if (variant_.uniform) seen = it.map(E::logical_or, {seen, it.le(length, zero)});
            end = it.where(seen, end, zero);
        }
        bounds.upper = end;
        return bounds;
    }

    std::vector<Id> keys(const std::vector<Id>& carried) {
        const Id key = it.named(it.load(p.tile(p.keys, p.k, p.d)), "key");
        const Id value = it.named(it.load(p.tile(p.values, p.k, p.e)), "value");
        std::vector<Id> initial = {it.named(it.fill(0, {p.k, p.d}), "key_sum"),
                                   it.named(it.fill(0, {p.k, p.e}), "value_sum")};
        initial.insert(initial.end(), carried.begin(), carried.end());
        std::vector<Id> sums =
            it.tiles(p.q, queries(), initial, [&](auto inner) { return pair(key, value, inner); });
        it.store(p.tile(dk, p.k, p.d), sums[0]);
        it.store(p.tile(dv, p.k, p.e), sums[1]);
        sums.erase(sums.begin(), sums.begin() + 2);
        return sums;
    }

    /// One tile of queries and one of keys.
    std::vector<Id> pair(Id key, Id value, const std::vector<Id>& carried) {
        const Id zero = it.constant(0);
        const Id query = it.named(it.load(p.tile(p.queries, p.q, p.d)), "query");
        const Id go = it.named(it.load(p.tile(gradient, p.q, p.e)), "go");
        const Id delta = it.named(this->delta(go), "delta");
        const Id logarithm = it.load(it.at(logarithms, {p.batch, p.head, p.q}));
        const bool by_query = variant_.lengths == AttentionVariant::Lengths::queries;
        const auto [keys_end, live] = by_query || variant_.uniform ? p.rows() : Program::Rows{};
        const Program::Score score = p.score(query, key, live);
        Id weight = it.map(E::exp2, {it.sub(it.mul(score.value, it.constant(kLog2e)), logarithm)});
        weight = p.allow(it.named(weight, "weight"), zero);
        if (by_query) weight = it.where(it.lt(it.index(p.k), keys_end), weight, zero);
        const Id w = it.named(it.where(it.valid(p.q), weight, zero), "p");
        const Id factor = p.factor();
        const Id dp = p.times(it.named(it.contract(go, value, {p.e}), "dp"), factor);
        Id ds = it.named(it.mul(w, it.sub(dp, delta)), "ds");
        const Id kept = factor < 0 ? w : it.named(it.mul(w, factor), "kept");
        std::vector<Id> next = {-1,
                                it.named(it.add(carried[1], it.contract(kept, go, {p.q})), "dv")};
        std::size_t more = 2;
        if (variant_.bias) it.store(it.at(dbias, {p.batch, p.head, p.q, p.k}), ds);
        ds = p.times(ds, live);
        if (variant_.alibi) {
            const Id products = it.mul(ds, score.distance);
            next.push_back(it.add(carried[more++], it.sum(products, {p.q, p.k})));
        }
        if (variant_.soft_cap) {
            const Id one = it.constant(1), squared = it.mul(score.capped, score.capped);
            ds = it.mul(ds, it.sub(one, squared));
        }
        if (variant_.additive) {
            const Id t = score.tanh;
            next.push_back(it.add(carried[more++], it.sum(it.mul(ds, t), {p.q, p.k})));
            const Id weighted = it.mul(ds, it.load(it.at(p.weights, {p.d})));
            const Id one = it.constant(1), squared = it.mul(t, t);
            const Id slope = it.mul(weighted, it.sub(one, squared));
            next[0] = it.add(carried[0], it.sum(slope, {p.q}));
            it.accumulate(p.tile(dq, p.q, p.d), it.sum(slope, {p.k}));
        } else {
            const double scale = 1 / std::sqrt(double(variant_.width.value()));
            ds = it.named(it.mul(ds, it.constant(scale)), "ds_scaled");
            next[0] = it.named(it.add(carried[0], it.contract(ds, query, {p.q})), "dk");
            it.accumulate(p.tile(dq, p.q, p.d), it.named(it.contract(ds, key, {p.k}), "dq"));
        }
        return next;
    }

    /// The sum of weight * dweight over the keys of a query.
    Id delta(Id go) {
        if (variant_.given_delta) return it.load(it.at(output, {p.batch, p.head, p.q}));
        const Id o = it.named(it.load(p.tile(output, p.q, p.e)), "o");
        return it.sum(it.mul(go, o), {p.e});
    }

    Program p;
    Builder& it;
    const AttentionVariant& variant_;
    int output = 0, logarithms = 0, gradient = 0, dq = 0, dk = 0, dv = 0, dbias = 0, dslope = 0,
        dw = 0;
};

}  // namespace

Kernel attention_backward(const AttentionVariant& variant) { return Backward(variant).build(); }

AttentionVariant readable_attention() {
    AttentionVariant variant;
    variant.name = "decoder_attention";
    variant.batch = "batch", variant.queries = "queries", variant.keys = "keys";
    variant.causal = true, variant.lengths = AttentionVariant::Lengths::sequences;
    return variant;
}

std::vector<AttentionVariant> attention_variants() {
    using L = AttentionVariant::Lengths;
    std::vector<AttentionVariant> all;
    const auto add = [&](const char* name, const Dim& width, const Dim& value_width) {
        all.emplace_back();
        all.back().name = name, all.back().width = width, all.back().value_width = value_width;
        return &all.back();
    };
    add("plain", 64, 64);
    add("padded", 64, 64)->lengths = L::sequences;
    auto it = add("causal_padded", 64, 64);
    it->causal = true, it->lengths = L::sequences;
    add("by_query", 20, 80)->lengths = L::queries;
    it = add("uniform_by_query", 20, 20);
    it->uniform = true, it->lengths = L::queries;
    it = add("uniform", 32, 32);
    it->uniform = true, it->causal = true, it->lengths = L::sequences;
    it = add("heads_inside", 8, 8);
    it->heads_inside = true, it->lengths = L::sequences;
    it = add("window", 80, 20);
    it->causal = true, it->window = 30;
    add("wide", 128, 200)->causal = true;
    add("soft_cap", 20, 20)->soft_cap = 5;
    it = add("alibi", 64, 64);
    it->alibi = true, it->causal = true;
    it = add("additive", 20, 16);
    it->additive = true, it->lengths = L::sequences;
    add("allowed", 16, 16)->allowed = true;
    add("bias", 16, 16)->bias = true;
    it = add("dropout", 32, 32);
    it->dropout = 0.25, it->lengths = L::sequences;
    return all;
}

}  // namespace fovea::test
