// Decoding of seq2seq_attention step by step, as two programs over its parameters: the source is
// encoded once, then each step reads one token a sentence. Equal to the full forward pass.
#pragma once

#include "models/block_names.h"
#include "models/seq2seq_attention.h"

namespace fovea::models {

inline constexpr BlockNames kHidden(".h", "layer"), kCell(".c", "layer");

/// What the decoder attends to, `keys` and `values` [batch, src_len, hidden], and where it starts,
/// `layerN.h` and `layerN.c` [batch, hidden]. It runs over padding, and reads no lengths.
constexpr void seq2seq_attention_encode(Scope s, const Seq2SeqSettings& c) {
    if (too_many_blocks(s, c.layers)) return;
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Seq2SeqMemory memory = encode(s / "encoder", c, src);
    s.output("keys", decoder_keys(s / "decoder", c, memory));
    s.output("values", memory.states);
    for (int i = 0; i < c.layers; ++i) {
        s.output(kHidden[i], memory.last[std::size_t(i)].h);
        s.output(kCell[i], memory.last[std::size_t(i)].c);
    }
}

/// One token of each sentence, from the states `layerN.h` and `layerN.c`: the logits of the next
/// token.
constexpr void seq2seq_attention_decode_step(Scope s, const Seq2SeqSettings& c) {
    if (too_many_blocks(s, c.layers)) return;
    Tensor token = s.input("token", {"batch"}, i32);
    Tensor lens = s.input("src_lens", {"batch"}, i32);
    Tensor keys = s.input("keys", {"batch", "src_len", c.hidden});
    Tensor values = s.input("values", {"batch", "src_len", c.hidden});
    std::vector<LSTMState> state;
    for (int i = 0; i < c.layers; ++i)
        state.push_back(
            {s.cache(kHidden[i], {"batch", c.hidden}), s.cache(kCell[i], {"batch", c.hidden})});
    Scope decoder = s / "decoder";
    Seq2SeqDecoder step = make_decoder(decoder, c, keys, values, lens);
    auto next = step(embedding(decoder / "embedding", token, c.tgt_vocab, c.embed), state);
    for (int i = 0; i < c.layers; ++i) {
        s.update(state[std::size_t(i)].h, next.state[std::size_t(i)].h);
        s.update(state[std::size_t(i)].c, next.state[std::size_t(i)].c);
    }
    s.output("logits", linear(decoder / "dense", next.value, c.tgt_vocab));
}

}  // namespace fovea::models
