// A pattern with an axis on the right that is not on the left.
#include <fovea.h>

constexpr void model(fovea::Scope s) {
    s.output("y", rearrange(s.input("x", {"batch", 8}), "b d -> b t d"));
}
static_assert(fovea::well_formed<[](fovea::Scope s) { model(s); }>);
