// Models whose interfaces have what others have not.
#include <fovea.h>
using namespace fovea;

/// Names that C++ has for itself, sizes that parameters have, dropout.
constexpr void tokens(Scope s) {
    Tensor ids = s.input("class", {"batch", "step"}, i32);
    Tensor x = embedding(s / "table", ids, "vocabulary", 16);
    Tensor logits = linear(s / "out", dropout(x, 0.5), "vocabulary");
    s.output("View", logits);
    s.output("loss", cross_entropy(logits, ids));
}

/// What a session keeps from call to call.
constexpr void counting(Scope s) {
    Tensor x = s.input("x", {"batch", 3}), total = s.cache("total", {"batch", 3});
    s.update(total, total + x);
    s.output("sum_of_all", total + x);
    s.output("of_rows", sum(x, 1));
}

/// A text that goes on token by token.
constexpr void texts(Scope s) {
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor x = embedding(s / "words", ids, 20, 16);
    x = x + sinusoids(x);
    x = x + attention(x, x, x, dot_product, causal);
    s.output("logits", linear(s / "out", layer_norm(s / "norm", x), 20));
}

/// Nothing that a call gives.
constexpr void constant(Scope s) {
    s.output("y", s.parameter("weight", {2, 3}, Initial::ones) * 2.0f);
}
