// What the Transformer of the chapters and its parts are built with; each model offers the settings
// that it uses.
#pragma once

#include <fovea.h>

#include "models/multi_head_attention.h"

namespace fovea::models {

/// What layer norm runs over in the encoder.
enum class NormOver { features, tokens_and_features };

struct TransformerSettings {
    Dim src_vocab = "src_vocab", tgt_vocab = "tgt_vocab";
    Dim hidden = {"hidden", 256}, ffn = {"ffn", 64};
    Dim heads = 4;
    int layers = 2;
    double dropout = 0;
    bool bias = false;  // of the encoder's attention projections
    NormOver norm_over = NormOver::features;
    Dim src_len = "src_len";  // static for norm_over=tokens_and_features

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("src_vocab", src_vocab);
        visit("tgt_vocab", tgt_vocab);
        visit("hidden", hidden);
        visit("ffn", ffn);
        visit("heads", heads);
        visit("layers", layers);
        visit("dropout", dropout, in_training);
        visit("bias", bias);
        visit("norm_over", norm_over, {"features", "tokens_and_features"});
        visit("src_len", src_len);
    }
    /// Of the encoder's attention; the decoder's has no bias.
    constexpr HeadOptions encoder_heads() const {
        return {.hidden = hidden, .heads = heads, .dropout = dropout, .bias = bias};
    }
    constexpr HeadOptions decoder_heads() const {
        return {.hidden = hidden, .heads = heads, .dropout = dropout};
    }
};

}  // namespace fovea::models
