// What PyTorch trains in tests/python.
#include <fovea.h>
using namespace fovea;

constexpr void flash(Scope s) {
    const Tensor q = s.input("q", {"batch", "heads", "len", 64});
    const Tensor k = s.input("k", {"batch", "heads", "len", 64});
    const Tensor v = s.input("v", {"batch", "heads", "len", 64});
    s.output("y", attention(q, k, v, dot_product, causal));
}
