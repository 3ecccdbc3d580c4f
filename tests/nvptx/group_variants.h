// The variants of attention that groups of warps compute (sm_90a).
#pragma once

#include <vector>

#include "tests/lower/attention_kernels.h"

namespace fovea::test {

/// Of every kind that changes what groups of warps do, forward and backward. All lies in memory as
/// bfloat16.
inline std::vector<AttentionVariant> group_variants() {
    using L = AttentionVariant::Lengths;
    std::vector<AttentionVariant> all;
    const auto add = [&](const char* name, int width, int value_width) {
        all.push_back(
            in_bfloat16_memory({.name = name, .width = width, .value_width = value_width}));
        return &all.back();
    };
    add("plain", 64, 64);
    add("wide", 128, 128)->lengths = L::sequences;
    auto it = add("causal_padded", 64, 64);
    it->window = kCausal, it->lengths = L::sequences;
    it = add("wide_causal", 128, 128);
    it->window = kCausal, it->lengths = L::sequences;
    add("by_query", 64, 128)->lengths = L::queries;
    it = add("uniform", 128, 64);
    it->uniform = true, it->window = kCausal, it->lengths = L::sequences;
    it->lie(Lying::heads_inside);
    it = add("window", 64, 64);
    it->window = {129, 0};
    it = add("soft_cap", 64, 64);
    it->score = Score::soft_cap, it->window = kCausal;
    it = add("alibi", 64, 64);
    it->score = Score::alibi_by_head, it->window = kCausal;
    it = add("by_distance", 64, 64);
    it->score = Score::by_distance, it->window = {129, 0};
    it = add("segments", 64, 64);
    it->segments = true, it->keys = it->queries, it->window = kCausal;
    add("allowed", 64, 64)->allowed = true;
    it = add("dropout", 64, 64);
    it->dropout = 0.25, it->lengths = L::sequences;
    return all;
}

}  // namespace fovea::test
