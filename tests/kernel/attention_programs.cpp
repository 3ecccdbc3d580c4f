#include "tests/kernel/attention_programs.h"

#include "tests/kernel/attention_program.h"

namespace fovea::test {

using namespace attention_program;

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
