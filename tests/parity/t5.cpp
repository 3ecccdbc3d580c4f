// T5 1.1 (Raffel et al. 2019), with the names of transformers' T5ForConditionalGeneration.
#include <fovea.h>

using namespace fovea;

namespace {

struct T5Settings {
    Dim vocab = {"vocab", 32128}, d_model = {"d_model", 512}, d_ff = {"d_ff", 1024};
    Dim d_kv = 64, heads = 6;
    int layers = 8, buckets = 32, distance = 128;
    double eps = 1e-6;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("vocab", vocab);
        visit("d_model", d_model);
        visit("d_ff", d_ff);
        visit("d_kv", d_kv);
        visit("heads", heads);
        visit("layers", layers);
        visit("buckets", buckets);
        visit("distance", distance);
        visit("eps", eps);
    }
};

/// The bucket of a key `offset` (i32) steps behind its query: one for each of the nearest, then
/// wider ones, in steps of equal ratio up to `distance`; other ones for keys behind, where these
/// are seen.
constexpr Tensor bucket_of(const T5Settings& c, Tensor offset, bool both_sides) {
    const int count = both_sides ? c.buckets / 2 : c.buckets, exact = count / 2;
    Tensor steps = both_sides ? abs(offset) : maximum(-offset, 0);
    Tensor bucket = minimum(steps, exact);
    for (int k = 1; k < count - exact; ++k) {
        const double ratio = math::pow(double(c.distance) / exact, double(k) / (count - exact));
        const int first = int(exact * ratio + 1 - 1e-9);
        bucket = bucket + cast(steps >= first, i32);
    }
    return both_sides ? bucket + count * cast(offset > 0, i32) : bucket;
}

/// The parts of a layer's attention that differ: whose distances are looked up, if any.
struct Distances {
    Tensor table{};  // [buckets, heads]
    bool both_sides = false;
};

constexpr Tensor attend(Scope s, const T5Settings& c, Tensor x, Tensor memory,
                        const Distances& distances, const Mask& mask) {
    auto project = [&](const char* name, Tensor from) {
        Tensor y = linear(s / name, from, c.heads * c.d_kv, {.bias = false});
        return rearrange(y, "b t (h d) -> b h t d", {"h", c.heads});
    };
    auto score = [&](Pair p) {
        Tensor product = dot(p.q, p.k);
        if (!distances.table) return product;
        Tensor bucket = bucket_of(c, p.j - p.i, distances.both_sides);
        return product + at(distances.table, {bucket, p.head});
    };
    Tensor q = project("q", x), k = project("k", memory), v = project("v", memory);
    Tensor seen = rearrange(attention(q, k, v, score, mask), "b h t d -> b t (h d)");
    return linear(s / "o", seen, c.d_model, {.bias = false});
}

constexpr Tensor feed_forward(Scope s, const T5Settings& c, Tensor x) {
    Tensor gate = gelu_tanh(linear(s / "wi_0", x, c.d_ff, {.bias = false}));
    Tensor inner = gate * linear(s / "wi_1", x, c.d_ff, {.bias = false});
    return linear(s / "wo", inner, c.d_model, {.bias = false});
}

/// x [batch, len, d_model]; a decoder where there is a memory.
constexpr Tensor stack(Scope s, const T5Settings& c, Tensor x, const Mask& own, Tensor memory = {},
                       const Mask& memory_mask = {}) {
    Scope first = s / "block" / 0 / "layer" / 0 / "SelfAttention";
    const Distances distances{(first / "relative_attention_bias")
                                  .parameter("weight", {c.buckets, c.heads}, Initial::normal),
                              !memory};
    for (int i = 0; i < c.layers; ++i) {
        Scope block = s / "block" / i / "layer";
        int part = 0;
        Tensor y = rms_norm(block / part / "layer_norm", x, 1, c.eps);
        x = x + attend(block / part / "SelfAttention", c, y, y, distances, own);
        if (memory) {
            y = rms_norm(block / ++part / "layer_norm", x, 1, c.eps);
            x = x + attend(block / part / "EncDecAttention", c, y, memory, {}, memory_mask);
        }
        y = rms_norm(block / ++part / "layer_norm", x, 1, c.eps);
        x = x + feed_forward(block / part / "DenseReluDense", c, y);
    }
    return rms_norm(s / "final_layer_norm", x, 1, c.eps);
}

}  // namespace

constexpr void t5(Scope s, const T5Settings& c) {
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor labels = s.input("labels", {"batch", "tgt_len"}, i32);
    Tensor tgt_lens = s.input("tgt_lens", {"batch"}, i32);
    Tensor words = embedding_table(s / "shared", c.vocab, c.d_model);
    (s / "encoder" / "embed_tokens").tie("weight", words);
    (s / "decoder" / "embed_tokens").tie("weight", words);
    (s / "lm_head").tie("weight", words);
    Tensor source = look_up(s / "encoder", words, src), target = look_up(s / "decoder", words, tgt);
    Tensor memory = stack(s / "encoder", c, source, padding(src_lens));
    Tensor x = stack(s / "decoder", c, target, causal, memory, padding(src_lens));
    Tensor logits = linear(x, words);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, labels, tgt_lens));
}

static_assert(well_formed<[](Scope s) { t5(s, {.layers = 2}); }>);
