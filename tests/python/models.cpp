// Models of tests/python: what PyTorch trains, a state whose size no array has, a loss for each
// sequence, and names that C++ and Python have taken.
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
