// Attention with the masks and scores of `fovea bench --suite attention`, and ALiBi.
#include <fovea.h>
using namespace fovea;

namespace {

constexpr std::int64_t kHeads = 8, kWidth = 64;

constexpr Tensor vectors(Scope s, const char* name, const char* length) {
    return s.input(name, {"batch", kHeads, length, kWidth});
}

template <class Score>
constexpr void attend(Scope s, Score score, Mask mask) {
    Tensor q = vectors(s, "q", "queries"), k = vectors(s, "k", "keys");
    s.output("output", attention(q, k, vectors(s, "v", "keys"), score, mask));
}

constexpr Tensor cap(Tensor score) { return 30 * tanh(score / 30); }

/// q·k / √width, less 2^-(head + 1) for every step between query and key (Press et al. 2022).
constexpr Tensor alibi(Pair p) {
    Tensor slope = exp(cast(p.head + 1, f32) * -0.69314718055994531);
    return dot_product(p) + slope * cast(p.j - p.i, f32);
}

}  // namespace

constexpr void full(Scope s) { attend(s, dot_product, no_mask); }
constexpr void causal_mask(Scope s) { attend(s, dot_product, causal); }
constexpr void padded(Scope s) { attend(s, dot_product, padding(s.input("lens", {"batch"}, i32))); }
constexpr void soft_cap(Scope s) {
    attend(s, [](Pair p) { return cap(dot_product(p)); }, no_mask);
}
constexpr void alibi_soft_cap(Scope s) {
    attend(s, [](Pair p) { return cap(alibi(p)); }, causal);
}
/// w·tanh(q + k), one head (Bahdanau et al. 2015).
constexpr void additive(Scope s) {
    Tensor q = s.input("q", {"batch", "queries", kWidth});
    Tensor k = s.input("k", {"batch", "keys", kWidth}), v = s.input("v", {"batch", "keys", kWidth});
    Tensor w = s.input("w_v", {kWidth});
    auto score = [=](Pair p) { return dot(w, tanh(p.q + p.k)); };
    s.output("output", attention(q, k, v, score));
}
