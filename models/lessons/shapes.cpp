// A mistake: the sizes are both 8, but they are not the same size.
#include <fovea.h>
using namespace fovea;

constexpr void shapes(Scope s) {
    Dim hidden = {"hidden", 8}, ffn = {"ffn", 8};
    Tensor x = s.input("x", {"batch", hidden});
    s.output("y", x + linear(s / "dense", x, ffn));
}
