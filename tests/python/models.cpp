// Models of tests/python: what PyTorch trains, a state whose size no array has, a loss for each
// sequence, names that C++ and Python have taken, names that become the same in them, and a loss
// beside another output and running statistics, an output shorter than its input.
#include <fovea.h>
using namespace fovea;

constexpr void flash(Scope s) {
    const Tensor q = s.input("q", {"batch", "heads", "len", 64});
    const Tensor k = s.input("k", {"batch", "heads", "len", 64});
    const Tensor v = s.input("v", {"batch", "heads", "len", 64});
    s.output("y", attention(q, k, v, dot_product, causal));
}

constexpr void keeps(Scope s) {
    const Tensor x = s.input("1st", {"batch"}), kept = s.cache("kept", {"steps"});
    s.update(kept, kept + sum(x, 0));
    s.output("_1st", kept * 1.0f);
}

constexpr void losses(Scope s) {
    const Tensor x = s.input("x", {"batch", 3}), w = s.parameter("w", {3}, Initial::ones);
    s.output("loss", sum(x * x * w, -1));
}

constexpr void keywords(Scope s) {
    s.output("None", relu(s.input("class", {"batch", "int"})) + 1.0);
}

constexpr void clashing(Scope s) {
    const Tensor a = s.input("x-y", {"batch"}), b = s.input("x_y", {"batch"}),
                 c = s.input("1", {"batch"}), d = s.input("x_1", {"batch"}),
                 e = s.input("None", {"batch"}), f = s.input("None_", {"batch"});
    s.output("x-y", a + 2.0 * b + 4.0 * c + 8.0 * d + 16.0 * e + 32.0 * f);
    s.output("x_y", a * 1.0);
    s.output("loss", sum(a * b, 0));
}

constexpr void shorter(Scope s) {
    s.output("y", conv1d(s / "conv", s.input("x", {"batch", 2, "len"}), 3, 4));
}

constexpr void tracked(Scope s) {
    const Tensor x = s.input("x", {"batch", 6}), y = s.input("y", {"batch"}, i32);
    const Tensor logits = linear(s / "out", relu(batch_norm(s / "bn", x, 1)), 5);
    s.output("logits", logits);
    s.output("best", argmax(logits, -1));
    s.output("loss", cross_entropy(logits, y));
}
