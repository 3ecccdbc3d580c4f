// BERT (Devlin et al. 2018): an encoder of one or two segments of text. Names are those of
// transformers' BertModel.
#pragma once

#include "models/today/heads.h"

namespace fovea::models {

struct BertSettings {
    Dim vocab_size = {"vocab", 30522}, hidden_size = {"hidden", 768},
        intermediate_size = {"ffn", 3072};
    Dim max_position_embeddings = {"positions", 512}, type_vocab_size = {"segments", 2};
    Dim num_attention_heads = 12;
    int num_hidden_layers = 12;
    int pad_token_id = 0;
    double layer_norm_eps = 1e-12;
    double hidden_dropout_prob = 0, attention_probs_dropout_prob = 0;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("vocab_size", vocab_size);
        visit("hidden_size", hidden_size);
        visit("intermediate_size", intermediate_size);
        visit("max_position_embeddings", max_position_embeddings);
        visit("type_vocab_size", type_vocab_size);
        visit("num_attention_heads", num_attention_heads);
        visit("num_hidden_layers", num_hidden_layers);
        visit("pad_token_id", pad_token_id);
        visit("layer_norm_eps", layer_norm_eps);
        visit("hidden_dropout_prob", hidden_dropout_prob, in_training);
        visit("attention_probs_dropout_prob", attention_probs_dropout_prob, in_training);
    }
};

/// The sum of the embeddings of words, segments and positions, normalised: [batch, len, hidden].
constexpr Tensor bert_embeddings(Scope s, const BertSettings& c, Tensor ids, Tensor segments) {
    Tensor words = embedding(s / "word_embeddings", ids, c.vocab_size, c.hidden_size,
                             {.padding = c.pad_token_id});
    Tensor types =
        embedding(s / "token_type_embeddings", segments, c.type_vocab_size, c.hidden_size);
    Tensor positions =
        embedding_table(s / "position_embeddings", c.max_position_embeddings, c.hidden_size);
    Tensor x = words + types + slice(positions, 0, 0, "len");
    return dropout(layer_norm(s / "LayerNorm", x, 1, c.layer_norm_eps), c.hidden_dropout_prob);
}

/// layer_norm(x + dense(y)).
constexpr Tensor bert_output(Scope s, const BertSettings& c, Tensor x, Tensor y) {
    y = dropout(linear(s / "dense", y, c.hidden_size), c.hidden_dropout_prob);
    return layer_norm(s / "LayerNorm", x + y, 1, c.layer_norm_eps);
}

/// Inputs `ids`, `segments` [batch, len], `lens` [batch]; outputs `output` [batch, len, hidden], 0
/// past the lengths, and `pooled` [batch, hidden]. `len` is at most max_position_embeddings.
constexpr void bert(Scope s, const BertSettings& c) {
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor segments = s.input("segments", {"batch", "len"}, i32);
    Tensor lens = s.input("lens", {"batch"}, i32);
    Tensor x = bert_embeddings(s / "embeddings", c, ids, segments);
    const EncoderHeads heads = {.count = c.num_attention_heads,
                                .hidden = c.hidden_size,
                                .dropout = c.attention_probs_dropout_prob};
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        Scope layer = s / "encoder" / "layer" / i, own = layer / "attention";
        Tensor y =
            encoder_attention(own / "self", {"query", "key", "value"}, heads, x, padding(lens));
        x = bert_output(own / "output", c, x, y);
        y = gelu(linear(layer / "intermediate" / "dense", x, c.intermediate_size));
        x = bert_output(layer / "output", c, x, y);
    }
    Tensor is_valid = iota(s, {1, "len", 1}, 1) < rearrange(lens, "b -> b 1 1");
    s.output("output", where(is_valid, x, 0.0));
    Tensor first = squeeze(slice(x, 1, 0, 1), 1);
    s.output("pooled", tanh(linear(s / "pooler" / "dense", first, c.hidden_size)));
}

}  // namespace fovea::models
