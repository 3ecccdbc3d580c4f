// A gradient of one's own: rounding has none that helps, so training takes that of its operand (the
// straight-through estimator, Bengio et al. 2013).
#include <fovea.h>
using namespace fovea;

constexpr Tensor rounded(Tensor x) {
    return custom_gradient(round(x), {x}, [](Tensor dy) { return dy; });
}

constexpr void quantized(Scope s) {
    Tensor x = s.input("x", {"batch", 16});
    Tensor w = s.parameter("w", {8, 16}, Initial::xavier_uniform);
    s.output("y", linear(x, rounded(w * 127.0) / 127.0));
}

static_assert(well_formed<[](Scope s) { quantized(s); }>);
