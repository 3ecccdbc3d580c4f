// A decoder with all that Gemma 2 has in a layer (rotary positions, grouped heads, a window in each
// second layer, capped scores, four norms): 153 operations. LAYERS is how many layers it has.
#include <fovea.h>

using namespace fovea;

#ifndef LAYERS
#define LAYERS 48
#endif

struct DecoderSettings {
    Dim vocab = {"vocab", 32000}, hidden = {"hidden", 4096}, ffn = {"ffn", 11008};
    Dim heads = 32, kv_heads = 8, width = 128;
    int layers = LAYERS, window = 4096;
    double eps = 1e-6, theta = 10000, score_cap = 50, logit_cap = 30;
};

constexpr Tensor rms_norm(Scope s, Tensor x, double eps) {
    Tensor weight = s.parameter("weight", {x.dim(-1)}, Initial::zeros);
    return x * rsqrt(mean(x * x, -1, true) + eps) * (1.0 + weight);
}

constexpr Tensor gelu_tanh(Tensor x) {
    return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))));
}

constexpr Tensor soft_cap(Tensor x, double cap) { return tanh(x / cap) * cap; }

/// x [.., len, width]: pairs (i, i + width/2) turned by position · theta^(-2i/width).
constexpr Tensor rotary(Tensor x, double theta) {
    Graph& graph = *x.graph;
    Dim half = x.dim(-1).without_label() / 2;
    Tensor t = cast(iota(graph, {x.dim(-2), 1}, 0), f32);
    Tensor i = cast(iota(graph, {1, half}, 1), f32);
    Tensor angle = t * pow(theta, -i / half);
    Tensor a = slice(x, -1, 0, half), b = slice(x, -1, half, half);
    return concat(a * cos(angle) - b * sin(angle), b * cos(angle) + a * sin(angle), -1);
}

/// Keys or values [b, groups, t, d] once for every query head of their group.
constexpr Tensor repeat_heads(Tensor x, Dim times) {
    Shape shape = {x.dim(0), x.dim(1), times, x.dim(2), x.dim(3)};
    return rearrange(broadcast(unsqueeze(x, 2), shape), "b k g t d -> b (k g) t d");
}

/// Query i sees keys i - window + 1 to i of x [.., len, width].
constexpr Mask sliding_window(Tensor x, int window) {
    Graph& graph = *x.graph;
    Tensor i = iota(graph, {x.dim(-2), 1}, 0), j = iota(graph, {1, x.dim(-2)}, 1);
    return causal & allowed(i - j < window);
}

constexpr Tensor self_attention(Scope s, const DecoderSettings& c, Tensor x, const Mask& mask) {
    auto project = [&](const char* name, Dim heads) {
        Tensor y = linear(s / name, x, heads * c.width, {.bias = false});
        return rearrange(y, "b t (h d) -> b h t d", {"h", heads});
    };
    Tensor q = rotary(project("q_proj", c.heads), c.theta);
    Tensor k = rotary(project("k_proj", c.kv_heads), c.theta), v = project("v_proj", c.kv_heads);
    Dim times = c.heads / c.kv_heads;
    double scale = 1.0 / 16;
    auto score = [&](Pair p) { return soft_cap(dot(p.q, p.k) * scale, c.score_cap); };
    Tensor seen = attention(q, repeat_heads(k, times), repeat_heads(v, times), score, mask);
    return linear(s / "o_proj", rearrange(seen, "b h t d -> b t (h d)"), c.hidden, {.bias = false});
}

constexpr Tensor mlp(Scope s, const DecoderSettings& c, Tensor x) {
    auto project = [&](const char* name, Tensor y, Dim out) {
        return linear(s / name, y, out, {.bias = false});
    };
    return project("down_proj",
                   gelu_tanh(project("gate_proj", x, c.ffn)) * project("up_proj", x, c.ffn),
                   c.hidden);
}

constexpr void decoder(Scope root, const DecoderSettings& c) {
    Tensor ids = root.input("ids", {"batch", "len"}, i32);
    Tensor labels = root.input("labels", {"batch", "len"}, i32),
           lens = root.input("lens", {"batch"}, i32);
    Scope s = root / "model";
    Tensor words = embedding_table(s / "embed_tokens", c.vocab, c.hidden);
    (root / "lm_head").tie("weight", words);
    Tensor x = look_up(s / "embed_tokens", words, ids) * sqrt(c.hidden);
    for (int i = 0; i < c.layers; ++i) {
        Scope l = s / "layers" / i;
        auto norm = [&](const char* name, Tensor y) { return rms_norm(l / name, y, c.eps); };
        Mask mask = i % 2 == 0 ? sliding_window(x, c.window) : causal;
        Tensor seen = self_attention(l / "self_attn", c, norm("input_layernorm", x), mask);
        x = x + norm("post_attention_layernorm", seen);
        Tensor y = mlp(l / "mlp", c, norm("pre_feedforward_layernorm", x));
        x = x + norm("post_feedforward_layernorm", y);
    }
    Tensor logits = soft_cap(linear_product(rms_norm(s / "norm", x, c.eps), words), c.logit_cap);
    root.output("logits", logits);
    root.output("loss", cross_entropy(logits, labels, lens));
}

static_assert(well_formed<[](Scope s) { decoder(s, {}); }>);
