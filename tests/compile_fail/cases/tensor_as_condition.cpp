// A condition on numbers that are not there while the graph is built.
#include <fovea.h>

using namespace fovea;

constexpr void branching(Scope s) {
    Tensor x = s.input("x", {"batch", 8});
    s.output("y", x > 0.0 ? x * 2.0 : x - 1.0);
}

static_assert(well_formed<[](Scope s) { branching(s); }>);
