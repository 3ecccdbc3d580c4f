// Pieces of code that the pages show, as parts of models that compile.
#include "dsl/fovea.h"

namespace fovea {

namespace {

struct MySettings {
    Dim hidden = {"hidden", 64};
    double dropout = 0.1;
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("hidden", hidden);
        visit("dropout", dropout, in_training);
    }
};

constexpr void with_settings(Scope s, const MySettings& c) {
    s.output("y",
             dropout(linear(s / "dense", s.input("x", {"batch", c.hidden}), c.hidden), c.dropout));
}

constexpr void with_distances(Scope s) {
    Tensor x = s.input("x", {"batch", Dim{"heads", 4}, "len", 16});
    Tensor bias = s.parameter("bias", {Dim{"heads", 4}, 17});
    auto distance = [&](Pair p) {  // relative positions, up to 8 keys to each side
        return dot_product(p) + at(bias, {p.head, clamp(p.j - p.i, -8, 8) + 8});
    };
    s.output("y", attention(x, x, x, distance));
}

constexpr void counted(Scope s) {
    Tensor x = s.input("x", {"batch", 8});
    Tensor last = s.cache("last", {"batch", 8}), calls = s.state("calls", {1});
    s.update(last, x);
    s.update(calls, calls + 1.0);
    s.output("y", (x - last) / maximum(calls, 1.0));
}

static_assert(well_formed<[](Scope s) { with_settings(s, {}); }>);
static_assert(well_formed<[](Scope s) { with_distances(s); }>);
static_assert(well_formed<[](Scope s) { counted(s); }>);

}  // namespace

}  // namespace fovea
