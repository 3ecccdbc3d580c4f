// What the programs of attention, forward and backward, share: axes, buffers, bounds and the score.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "codegen/kernel/builder.h"
#include "tests/kernel/attention_programs.h"

namespace fovea::test::attention_program {

using namespace kernel;
using E = Elementwise;

inline constexpr int kHeads = 2;
inline constexpr double kLog2e = 1.4426950408889634;
inline constexpr double kMasked = -1e30, kLowestMaximum = -1e29;

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

}  // namespace fovea::test::attention_program
