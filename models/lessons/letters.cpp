// A language model of letters: whole texts to train on, and one letter at a time to write with.
#include <fovea.h>
using namespace fovea;

constexpr Dim kLetters = {"letters", 27}, kWidth = {"width", 32};

constexpr Tensor project(Scope s, const char* name, Tensor x) {
    return linear(s / name, x, kWidth, {.bias = false});
}

constexpr Tensor logits_of(Scope s, Tensor x, Tensor seen) {
    return linear(s / "out", layer_norm(s / "norm", x + seen), kLetters);
}

constexpr void letters(Scope s) {
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor next = s.input("next", {"batch", "len"}, i32);
    Tensor x = embedding(s / "embedding", ids, kLetters, kWidth);
    x = x + sinusoids(x);
    Tensor q = project(s, "W_q", x), k = project(s, "W_k", x), v = project(s, "W_v", x);
    Tensor seen = attention(q, k, v, dot_product, causal);
    Tensor logits = logits_of(s, x, seen);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, next));
}

/// The letter at `position`: keys and values of those before are in caches, which are written in
/// place.
constexpr void letters_step(Scope s) {
    Tensor id = s.input("id", {"batch"}, i32), position = s.input("position", {1}, i32);
    Tensor x = embedding(s / "embedding", id, kLetters, kWidth) + sinusoids_at(position, kWidth);
    x = unsqueeze(x, 1);
    auto append = [&](const char* name) {
        Tensor cache = s.cache(name, {"batch", "steps", kWidth});
        Tensor is_new = eq(iota(s, {"steps", 1}, 0), position);
        Tensor all = where(is_new, project(s, name, x), cache);
        s.update(cache, all);
        return all;
    };
    Tensor keys = append("W_k"), values = append("W_v");
    Tensor lens = broadcast(position + 1, {"batch"});
    Tensor seen = attention(project(s, "W_q", x), keys, values, dot_product, padding(lens));
    s.output("logits", squeeze(logits_of(s, x, seen), 1));
}

static_assert(well_formed<[](Scope s) { letters(s); }>);
static_assert(well_formed<[](Scope s) { letters_step(s); }>);
