// The variants of attention that groups of warps compute (sm_90a), and their sizes.
#pragma once

#include <vector>

#include "codegen/kernel/evaluate.h"
#include "tests/kernel/attention_programs.h"

namespace fovea::test {

/// Sequences, queries and keys.
inline kernel::DimValues group_sizes(std::int64_t batch, std::int64_t queries, std::int64_t keys) {
    return {{"b", batch}, {"m", queries}, {"n", keys}, {"k", 0}};
}

/// Rows of so many elements, those of values too.
inline AttentionVariant group_variant(const char* name, int width, int value_width) {
    AttentionVariant variant;
    variant.name = name, variant.width = width, variant.value_width = value_width;
    variant.given_delta = true;
    return variant;
}

/// Of every kind that changes what groups of warps do, forward and backward.
inline std::vector<AttentionVariant> group_variants() {
    using L = AttentionVariant::Lengths;
    std::vector<AttentionVariant> all;
    const auto add = [&](const char* name, int width, int value_width) {
        all.push_back(group_variant(name, width, value_width));
        return &all.back();
    };
    add("plain", 64, 64);
    add("wide", 128, 128)->lengths = L::sequences;
    auto it = add("causal_padded", 64, 64);
    it->causal = true, it->lengths = L::sequences;
    it = add("wide_causal", 128, 128);
    it->causal = true, it->lengths = L::sequences;
    add("by_query", 64, 128)->lengths = L::queries;
    it = add("uniform", 128, 64);
    it->uniform = true, it->causal = true, it->lengths = L::sequences, it->heads_inside = true;
    it = add("window", 64, 64);
    it->causal = true, it->window = 130;
    it = add("soft_cap", 64, 64);
    it->soft_cap = 5, it->causal = true;
    add("allowed", 64, 64)->allowed = true;
    it = add("dropout", 64, 64);
    it->dropout = 0.25, it->lengths = L::sequences;
    return all;
}

}  // namespace fovea::test
