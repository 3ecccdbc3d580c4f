// Greedy decoding of "Attention is all you need" with a cache, and its loss as it is reported.
#pragma once

#include "models/attention_is_all_you_need.h"
#include "models/block_names.h"

namespace fovea::models {

/// What decoder layers attend to, projected: `blockN.memory_keys` [batch, src_len, heads · d_k] and
/// `blockN.memory_values` [batch, src_len, heads · d_v].
constexpr void attention_is_all_you_need_encode(Scope s, const PaperSettings& settings) {
    PaperSettings c = settings;
    if (too_many_blocks(s, c.layers) || !paper::share_vocabulary(s, c)) return;
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    paper::Tables tables = paper::make_tables(s, c);
    Tensor memory = paper::encode(s / "encoder", c, tables.source, src, padding(src_lens));
    for (int i = 0; i < c.layers; ++i) {
        Scope layer = s / "decoder" / "layer_stack" / i, attention = layer / "enc_attn";
        s.output(kMemoryKeys[i], paper::keys_of(attention, c, memory));
        s.output(kMemoryValues[i], paper::values_of(attention, c, memory));
    }
}

/// One token of each sentence, all at `position`, as `transformer_decode_step` has it.
constexpr void attention_is_all_you_need_decode_step(Scope s, const PaperSettings& settings) {
    PaperSettings c = settings;
    if (too_many_blocks(s, c.layers) || !paper::share_vocabulary(s, c)) return;
    Tensor token = s.input("token", {"batch"}, i32);
    Tensor position = s.input("position", {1}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor lens = broadcast(position + 1, {"batch"});
    Tensor is_new = eq(iota(*s.graph, {"steps", 1}, 0), position);
    paper::Tables tables = paper::make_tables(s, c);
    Scope decoder = s / "decoder";
    Tensor x = look_up(decoder, tables.target, token, c.pad);
    if (c.scale == Scale::emb) x = x * sqrt(c.d_model);
    x = unsqueeze(x + sinusoids_at(position, c.d_model), 1);
    x = layer_norm(decoder / "layer_norm", x, 1, paper::kNormEps);
    for (int i = 0; i < c.layers; ++i) {
        Scope layer = decoder / "layer_stack" / i, own = layer / "slf_attn";
        auto append = [&](const char* name, Tensor row) {
            Tensor cache = s.cache(name, {"batch", "steps", row.dim(-1)});
            Tensor next = where(is_new, row, cache);
            s.update(cache, next);
            return next;
        };
        Tensor keys = append(kKeys[i], paper::keys_of(own, c, x));
        Tensor values = append(kValues[i], paper::values_of(own, c, x));
        x = paper::attend_to(own, c, x, keys, values, padding(lens));
        auto memory = [&](const char* name, Dim width) {
            return s.input(name, {"batch", "src_len", c.heads * width});
        };
        Tensor memory_keys = memory(kMemoryKeys[i], c.d_k);
        Tensor memory_values = memory(kMemoryValues[i], c.d_v);
        x = paper::attend_to(layer / "enc_attn", c, x, memory_keys, memory_values,
                             padding(src_lens));
        x = paper::feed_forward(layer / "pos_ffn", c, x);
    }
    s.output("logits", paper::logits_of(c, tables, squeeze(x, 1)));
}

/// The model with the loss that is reported: without label smoothing.
constexpr void attention_is_all_you_need_evaluate(Scope s, const PaperSettings& settings) {
    PaperSettings c = settings;
    c.label_smoothing = 0;
    attention_is_all_you_need(s, c);
}

}  // namespace fovea::models
