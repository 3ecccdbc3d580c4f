// Inputs, a parameter, ops, an output: a graph.
#include <fovea.h>
using namespace fovea;

constexpr void graph(Scope s) {
    Tensor x = s.input("x", {"batch", 4});
    Tensor w = s.parameter("w", {Dim{"hidden", 8}, 4});
    s.output("y", relu(einsum("b i, h i -> b h", x, w)));
}

static_assert(well_formed<[](Scope s) { graph(s); }>);
