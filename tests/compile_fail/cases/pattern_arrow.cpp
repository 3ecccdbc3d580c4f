// A pattern without an arrow.
#include <fovea.h>

constexpr void model(fovea::Scope s) {
    s.output("y", rearrange(s.input("x", {"batch", 8}), "b d, d b"));
}
static_assert(fovea::well_formed<[](fovea::Scope s) { model(s); }>);
