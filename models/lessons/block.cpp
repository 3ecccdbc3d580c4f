#include <fovea.h>
using namespace fovea;

constexpr Tensor feed_forward(Scope s, Tensor x, Dim ffn, Dim output) {
    return linear(s / "dense2", relu(linear(s / "dense1", x, ffn)), output);
}

constexpr void block(Scope s) {
    Dim hidden = {"hidden", 64}, ffn = {"ffn", 128};
    Tensor x = s.input("x", {"batch", "len", hidden}), lens = s.input("lens", {"batch"}, i32);
    auto heads = [&](const char* name) {
        return rearrange(linear(s / name, x, hidden), "b t (h d) -> b h t d", {"h", 4});
    };
    Tensor seen = attention(heads("W_q"), heads("W_k"), heads("W_v"), dot_product, padding(lens));
    Tensor y = linear(s / "W_o", rearrange(seen, "b h t d -> b t (h d)"), hidden);
    x = layer_norm(s / "ln1", x + dropout(y, 0.1));
    s.output("output", layer_norm(s / "ln2", x + feed_forward(s / "ffn", x, ffn, hidden)));
}

static_assert(well_formed<[](Scope s) { block(s); }>);
