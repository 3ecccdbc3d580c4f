// A module that the compiler cannot run.
#include <fovea.h>

fovea::Tensor module(fovea::Scope s, fovea::Tensor x) { return linear(s / "dense", x, 8); }

static_assert(fovea::well_formed<[](fovea::Scope s) {
    s.output("y", module(s, s.input("x", {"batch", 8})));
}>);
