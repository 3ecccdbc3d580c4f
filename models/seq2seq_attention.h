// Sequence to sequence with attention (Bahdanau et al. 2014; d2l's "Bahdanau Attention"): LSTM
// encoder and decoder, each decoder step attending with an additive score.
#pragma once

#include <fovea.h>

namespace fovea::models {

struct Seq2SeqSettings {
    Dim src_vocab = "src_vocab", tgt_vocab = "tgt_vocab";
    Dim embed = {"embed", 32}, hidden = {"hidden", 32};
    int layers = 2;
    double dropout = 0;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("src_vocab", src_vocab);
        visit("tgt_vocab", tgt_vocab);
        visit("embed", embed);
        visit("hidden", hidden);
        visit("layers", layers);
        visit("dropout", dropout, in_training);
    }
};

/// What the encoder hands on: the top layer's hidden states [batch, src_len, hidden], and the last
/// state of each layer.
struct Seq2SeqMemory {
    Tensor states;
    std::vector<LSTMState> last;
};

/// ids [batch, length] → [length, batch, width]
constexpr Tensor embed_steps(Scope s, Tensor ids, Dim vocab, Dim width) {
    return embedding(s, rearrange(ids, "b t -> t b"), vocab, width);
}

/// src [batch, src_len]; runs over padding.
constexpr Seq2SeqMemory encode(Scope s, const Seq2SeqSettings& c, Tensor src) {
    Tensor x = embed_steps(s / "embedding", src, c.src_vocab, c.embed);
    Seq2SeqMemory memory{x, {}};
    Scope rnn = s / "rnn";
    for (int i = 0; i < c.layers; ++i) {
        if (i > 0) x = dropout(x, c.dropout);
        LSTMLayer layer = lstm_layer(rnn, i == 0 ? c.embed : c.hidden, c.hidden, i);
        auto y = lstm(layer, x, lstm_start(*x.graph, src.dim(0), c.hidden));
        memory.last.push_back(y.state);
        x = y.value;
    }
    memory.states = rearrange(x, "t b h -> b t h");
    return memory;
}

/// The parameters of the decoder's step, and what it attends to.
struct Seq2SeqDecoder {
    Scope attend;
    Tensor weight_q, v;          // [hidden, hidden], [hidden]
    std::vector<LSTMLayer> layers;
    Tensor keys, values, lens;   // [batch, src_len, hidden] twice, [batch]
    double dropout = 0;

    /// x [batch, embed]. The query is the top layer's hidden state of the step before, the first
    /// layer's input (context, embedding).
    constexpr Step<Tensor, std::vector<LSTMState>> operator()(Tensor x,
                                                              std::vector<LSTMState> state) const {
        Tensor query = value_of(attend / "W_q", linear_product(state.back().h, weight_q));
        auto score = [&](Pair p) { return dot(v, tanh(p.q + p.k)); };
        Tensor context = attention(unsqueeze(query, 1), keys, values, score, padding(lens));
        context = squeeze(value_of(attend, context), 1);
        for (std::size_t i = 0; i < state.size(); ++i) {
            if (i == 0) {
                state[i] = lstm_step(layers[i], {context, x}, state[i]);
            } else {
                Tensor below = fovea::dropout(state[i - 1].h, dropout);
                state[i] = lstm_step(layers[i], {below}, state[i]);
            }
        }
        return {state.back().h, state};
    }
};

constexpr Tensor decoder_keys(Scope s, const Seq2SeqSettings& c, const Seq2SeqMemory& memory) {
    return linear(s / "attention" / "W_k", memory.states, c.hidden, {.bias = false});
}
/// keys: of `decoder_keys`; values: the memory's states.
constexpr Seq2SeqDecoder make_decoder(Scope s, const Seq2SeqSettings& c, Tensor keys, Tensor values,
                                      Tensor lens) {
    Scope attend = s / "attention";
    Tensor weight_q = (attend / "W_q").parameter("weight", {c.hidden, c.hidden});
    Tensor weight_v = (attend / "w_v").parameter("weight", {1, c.hidden});
    std::vector<LSTMLayer> layers;
    for (int i = 0; i < c.layers; ++i) {
        Dim input = i == 0 ? c.hidden.without_label() + c.embed : c.hidden;
        layers.push_back(lstm_layer(s / "rnn", input, c.hidden, i));
    }
    Tensor v = rearrange(weight_v, "1 h -> h");
    return {attend, weight_q, v, layers, keys, values, lens, c.dropout};
}

/// tgt [batch, tgt_len] → logits [batch, tgt_len, tgt_vocab].
constexpr Tensor decode(Scope s, const Seq2SeqSettings& c, Tensor tgt, const Seq2SeqMemory& memory,
                        Tensor memory_lens) {
    Tensor keys = decoder_keys(s, c, memory);
    Seq2SeqDecoder step = make_decoder(s, c, keys, memory.states, memory_lens);
    Tensor x = embed_steps(s / "embedding", tgt, c.tgt_vocab, c.embed);
    auto y = scan(x, memory.last, step);
    return linear(s / "dense", rearrange(y.value, "t b h -> b t h"), c.tgt_vocab);
}

constexpr void seq2seq_attention(Scope s, const Seq2SeqSettings& c) {
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor labels = s.input("labels", {"batch", "tgt_len"}, i32);
    Tensor tgt_lens = s.input("tgt_lens", {"batch"}, i32);
    Tensor logits = decode(s / "decoder", c, tgt, encode(s / "encoder", c, src), src_lens);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, labels, tgt_lens));
}

}  // namespace fovea::models
