#include "tags.h"
using namespace fovea;

struct MySettings {
    Dim hidden = {"hidden", 32};
    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("hidden", hidden);
    }
};

constexpr void my_model(Scope s, const MySettings& c) {
    Tensor words = s.input("words", {"batch", "len"}, i32);
    Tensor x = embedding(s / "embedding", words, {"words", 40}, c.hidden);
    x = layer_norm(s / "norm", x + relu(linear(s / "dense", x, c.hidden)));
    Tensor logits = linear(s / "out", x, kTags);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, s.input("tags", {"batch", "len"}, i32)));
}

static_assert(well_formed<[](Scope s) { my_model(s, {}); }>);
