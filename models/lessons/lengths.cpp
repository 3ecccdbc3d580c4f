// A softmax over the keys inside each sequence's length, and attention that never stores it.
#include <fovea.h>
using namespace fovea;

constexpr void weights(Scope s) {
    Tensor scores = s.input("scores", {"batch", "queries", "keys"});
    Tensor lens = s.input("lens", {"batch"}, i32);
    s.output("weights", masked_softmax(scores, padding(lens)));
}

constexpr void attend(Scope s) {
    Tensor q = s.input("q", {"batch", "queries", 64}), k = s.input("k", {"batch", "keys", 64});
    Tensor v = s.input("v", {"batch", "keys", 64}), lens = s.input("lens", {"batch"}, i32);
    s.output("output", attention(q, k, v, dot_product, padding(lens)));
}

static_assert(well_formed<[](Scope s) { weights(s); }>);
static_assert(well_formed<[](Scope s) { attend(s); }>);
