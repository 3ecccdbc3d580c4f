// Attention with scores of one's own: a score is a plain function of one (query, key) pair. Masks,
// dropout and gradients come with it, and it is fused like any other.
#include <fovea.h>
using namespace fovea;

struct ScoreSettings {
    Dim heads = {"heads", 4}, width = {"width", 32};
    double cap = 30, dropout = 0;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("heads", heads);
        visit("width", width);
        visit("cap", cap);
        visit("dropout", dropout, in_training);
    }
};

/// q·k / √width plus a slope of the head for every step from the key to the query (ALiBi, Press et
/// al. 2022).
constexpr Tensor alibi(Pair p, Tensor slopes) {
    return dot_product(p) + gather(slopes, p.head) * cast(p.j - p.i, f32);
}

/// A score between -cap and cap.
constexpr Tensor soft_cap(Tensor score, double cap) { return tanh(score / cap) * cap; }

constexpr void alibi_soft_cap(Scope s, const ScoreSettings& c) {
    auto vectors = [&](const char* name) {
        return s.input(name, {"batch", c.heads, "len", c.width});
    };
    Tensor slopes = s.parameter("slopes", {c.heads}, Initial::ones);
    auto score = [&](Pair p) { return soft_cap(alibi(p, slopes), c.cap); };
    s.output("output", attention(vectors("q"), vectors("k"), vectors("v"), score, causal,
                                 {.dropout = c.dropout}));
}

/// w·tanh(q + k) (Bahdanau et al. 2015), over the keys inside the valid lengths.
constexpr void additive(Scope s, const ScoreSettings& c) {
    Tensor q = s.input("q", {"batch", "queries", c.width});
    Tensor k = s.input("k", {"batch", "keys", c.width}), lens = s.input("lens", {"batch"}, i32);
    Tensor w = s.parameter("w", {c.width}, Initial::ones);
    auto score = [&](Pair p) { return dot(w, tanh(p.q + p.k)); };
    s.output("output", attention(q, k, k, score, padding(lens), {.dropout = c.dropout}));
}

static_assert(well_formed<[](Scope s) { alibi_soft_cap(s, {}); }>);
static_assert(well_formed<[](Scope s) { additive(s, {}); }>);
