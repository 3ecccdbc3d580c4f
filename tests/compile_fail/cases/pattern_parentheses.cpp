// A pattern whose group never ends.
#include <fovea.h>

constexpr void model(fovea::Scope s) {
    s.output("y", rearrange(s.input("x", {"batch", 8}), "b (h d -> b h d"));
}
static_assert(fovea::well_formed<[](fovea::Scope s) { model(s); }>);
