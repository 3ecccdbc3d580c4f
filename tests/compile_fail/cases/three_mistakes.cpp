// Mistakes that do not follow from each other are reported together, three at most.
#include <fovea.h>

constexpr void model(fovea::Scope s) {
    fovea::Tensor x = s.input("x", {"batch", 8}), ids = s.input("ids", {"batch"}, fovea::i32);
    s.output("a", x + s.input("z", {"batch", 9}));
    s.output("b", linear(s / "dense", ids, 8));
    s.output("c", softmax(x, 2));
    s.output("d", softmax(x, 3));
}
static_assert(fovea::well_formed<[](fovea::Scope s) { model(s); }>);
