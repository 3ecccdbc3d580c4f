// A language model of letters, which reads whole texts.
#include <fovea.h>
using namespace fovea;

constexpr Dim kLetters = {"letters", 27}, kWidth = {"width", 32};

constexpr Tensor project(Scope s, const char* name, Tensor x) {
    return linear(s / name, x, kWidth, {.bias = false});
}

constexpr void letters(Scope s) {
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor next = s.input("next", {"batch", "len"}, i32);
    Tensor x = embedding(s / "embedding", ids, kLetters, kWidth);
    x = x + sinusoids(x);
    Tensor q = project(s, "W_q", x), k = project(s, "W_k", x), v = project(s, "W_v", x);
    Tensor seen = attention(q, k, v, dot_product, causal);
    Tensor logits = linear(s / "out", layer_norm(s / "norm", x + seen), kLetters);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, next));
}

static_assert(well_formed<[](Scope s) { letters(s); }>);
