// Gradients of attention as tile programs: one program, or one for each side.
#include "tests/kernel/attention_program.h"

namespace fovea::test {

using namespace attention_program;

namespace {

/// The gradients that one kernel computes: all, with the loop over queries inside of that over
/// keys, or those of one side.
enum class Side { all, keys, queries, captures };

const char* suffix_of(Side side) {
    if (side == Side::queries) return "_backward_of_queries";
    return side == Side::captures ? "_backward_of_captures" : "_backward";
}

class Backward {
  public:
    Backward(const AttentionVariant& variant, Side side)
        : p(variant, suffix_of(side), "dQ, dK, dV from dO, the scores computed again"),
          it(p.it),
          variant_(variant),
          side_(side) {}

    Kernel build() {
        p.add_inputs();
        output = variant_.given_delta
                     ? it.input("delta", {variant_.batch, kHeads, variant_.queries})
                     : p.tensor("O", variant_.queries, variant_.value_width, false);
        logarithms = it.input("L", {p.variant_.batch, kHeads, p.variant_.queries});
        gradient = p.tensor("dO", variant_.queries, variant_.value_width, false);
        p.add_variant_inputs();
        if (has(Side::queries)) dq = p.tensor("dQ", variant_.queries, variant_.width, true);
        if (has(Side::keys)) {
            dk = p.tensor("dK", variant_.keys, variant_.width, true);
            dv = p.tensor("dV", variant_.keys, variant_.value_width, true);
            if (variant_.bias)
                dbias =
                    it.output("dbias", {variant_.batch, kHeads, variant_.queries, variant_.keys});
        }
        if (has(Side::captures)) {
            if (variant_.alibi) dslope = it.output("dslope", {variant_.batch, kHeads});
            if (variant_.additive) dw = it.output("dw", {variant_.batch, kHeads, variant_.width});
        }
        it.each({p.batch, p.head}, [&] {
            if (side_ == Side::keys) it.par(p.k, [&] { keys({}); });
            else if (side_ == Side::queries) it.par(p.q, [&] { query_rows(); });
            else task();
        });
        return it.finish();
    }

  private:
    bool has(Side side) const { return side_ == Side::all || side_ == side; }

    void task() {
        if (has(Side::queries))
            it.tiles(p.q, {}, {}, [&](const auto&) {
                it.store(p.tile(dq, p.q, p.d), it.fill(0, {p.q, p.d}));
                return std::vector<Id>{};
            });
        std::vector<Id> initial;
        if (variant_.alibi) initial.push_back(it.named(it.fill(0, {}), "slope_sum"));
        if (variant_.additive) initial.push_back(it.named(it.fill(0, {p.d}), "w_sum"));
        const std::vector<Id> sums =
            it.tiles(p.k, {}, initial, [&](const auto& carried) { return keys(carried); });
        if (variant_.alibi) it.store(it.at(dslope, {p.batch, p.head}), sums[0]);
        if (variant_.additive) it.store(it.at(dw, {p.batch, p.head, p.d}), sums.back());
    }

    /// A tile of queries, over the keys that it sees.
    void query_rows() {
        load_queries();
        const auto [end, live] = p.rows();
        live_ = live;
        std::vector<Id> sum = {it.named(it.fill(0, {p.q, p.d}), "query_sum")};
        sum = it.tiles(p.k, {p.keys_from(), end}, sum, [&](const auto& carried) {
            load_keys();
            const Pair pair = this->pair(live_, it.valid(p.k));
            return std::vector<Id>{it.named(it.add(carried[0], of_query(pair)), "dq")};
        });
        it.store(p.tile(dq, p.q, p.d), sum[0]);
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

    void load_keys() {
        key_ = it.named(it.load(p.tile(p.keys, p.k, p.d)), "key");
        value_ = it.named(it.load(p.tile(p.values, p.k, p.e)), "value");
    }
    void load_queries() {
        query_ = it.named(it.load(p.tile(p.queries, p.q, p.d)), "query");
        go_ = it.named(it.load(p.tile(gradient, p.q, p.e)), "go");
        delta_ = it.named(this->delta(go_), "delta");
        logarithm_ = it.load(it.at(logarithms, {p.batch, p.head, p.q}));
    }

    std::vector<Id> keys(const std::vector<Id>& carried) {
        load_keys();
        std::vector<Id> initial;
        if (has(Side::keys))
            initial = {it.named(it.fill(0, {p.k, p.d}), "key_sum"),
                       it.named(it.fill(0, {p.k, p.e}), "value_sum")};
        initial.insert(initial.end(), carried.begin(), carried.end());
        std::vector<Id> sums =
            it.tiles(p.q, queries(), initial, [&](const auto& inner) { return query_tile(inner); });
        if (!has(Side::keys)) return sums;
        it.store(p.tile(dk, p.k, p.d), sums[0]);
        it.store(p.tile(dv, p.k, p.e), sums[1]);
        sums.erase(sums.begin(), sums.begin() + 2);
        return sums;
    }

    /// A tile of queries inside of one of keys.
    std::vector<Id> query_tile(const std::vector<Id>& carried) {
        load_queries();
        const bool by_query = variant_.lengths == AttentionVariant::Lengths::queries;
        const auto [keys_end, live] = by_query || variant_.uniform ? p.rows() : Program::Rows{};
        Id counts = it.valid(p.q);
        if (by_query) counts = it.map(E::logical_and, {it.lt(it.index(p.k), keys_end), counts});
        const Pair pair = this->pair(live, counts);
        std::vector<Id> next;
        std::size_t at = 0;
        if (has(Side::keys)) {
            next = {it.named(it.add(carried[0], of_key(pair)), "dk"),
                    it.named(it.add(carried[1], it.contract(pair.kept, go_, {p.q})), "dv")};
            at = 2;
            if (variant_.bias) it.store(it.at(dbias, {p.batch, p.head, p.q, p.k}), pair.of_weight);
        }
        if (has(Side::captures) && variant_.alibi)
            next.push_back(it.add(carried[at++],
                                  it.sum(it.mul(pair.of_score, pair.score.distance), {p.q, p.k})));
        if (has(Side::captures) && variant_.additive)
            next.push_back(
                it.add(carried[at++], it.sum(it.mul(pair.of_score, pair.score.tanh), {p.q, p.k})));
        if (has(Side::queries)) it.accumulate(p.tile(dq, p.q, p.d), of_query(pair));
        return next;
    }

    /// What is made of one tile of queries and one of keys: the score, its gradient before and
    /// behind the slope of the soft cap and the rows that do not count, the weight kept.
    struct Pair {
        Program::Score score;
        Id of_weight = -1, of_score = -1, kept = -1, slope = -1;
    };
    Pair pair(Id live, Id counts) {
        const Id zero = it.constant(0);
        Pair pair;
        pair.score = p.score(query_, key_, live);
        Id weight =
            it.map(E::exp2, {it.sub(it.mul(pair.score.value, it.constant(kLog2e)), logarithm_)});
        weight = p.allow(it.named(weight, "weight"), zero);
        const Id w = it.named(it.where(counts, weight, zero), "p");
        const Id factor = p.factor();
        const Id dp = p.times(it.named(it.contract(go_, value_, {p.e}), "dp"), factor);
        pair.of_weight = it.named(it.mul(w, it.sub(dp, delta_)), "ds");
        if (has(Side::keys)) pair.kept = factor < 0 ? w : it.named(it.mul(w, factor), "kept");
        pair.of_score = p.times(pair.of_weight, live);
        if (variant_.soft_cap) {
            const Id one = it.constant(1), squared = it.mul(pair.score.capped, pair.score.capped);
            pair.of_score = it.mul(pair.of_score, it.sub(one, squared));
        }
        if (side_ == Side::captures) return pair;
        if (variant_.additive) {
            const Id t = pair.score.tanh;
            pair.slope = it.mul(pair.of_score, it.load(it.at(p.weights, {p.d})));
            const Id one = it.constant(1), squared = it.mul(t, t);
            pair.slope = it.mul(pair.slope, it.sub(one, squared));
        } else {
            const double scale = 1 / std::sqrt(double(variant_.width.value()));
            pair.slope = it.named(it.mul(pair.of_score, it.constant(scale)), "ds_scaled");
        }
        return pair;
    }
    Id of_key(const Pair& pair) {
        if (variant_.additive) return it.sum(pair.slope, {p.q});
        return it.contract(pair.slope, query_, {p.q});
    }
    Id of_query(const Pair& pair) {
        if (variant_.additive) return it.sum(pair.slope, {p.k});
        return it.named(it.contract(pair.slope, key_, {p.k}), "dq");
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
    const Side side_;
    Id query_ = -1, key_ = -1, value_ = -1, go_ = -1, delta_ = -1, logarithm_ = -1, live_ = -1;
    int output = 0, logarithms = 0, gradient = 0, dq = 0, dk = 0, dv = 0, dbias = 0, dslope = 0,
        dw = 0;
};

}  // namespace

Kernel attention_backward(const AttentionVariant& variant) {
    return Backward(variant, Side::all).build();
}

std::vector<Kernel> attention_gradients(const AttentionVariant& variant) {
    std::vector<Kernel> kernels{Backward(variant, Side::keys).build(),
                                Backward(variant, Side::queries).build()};
    if (variant.alibi || variant.additive)
        kernels.push_back(Backward(variant, Side::captures).build());
    return kernels;
}

}  // namespace fovea::test
