// Models drawn at random that read whole texts: token by token, they give the same.
#include <doctest/doctest.h>
#include <fovea.h>

#include <random>
#include <string>
#include <vector>

#include "codegen/graph/scan_function.h"
#include "tests/decode/token_by_token.h"
#include "tests/random_seed.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Draws layers of x [batch, len, 8], each of which keeps positions apart or sees those before.
class ModelDrawing {
  public:
    explicit ModelDrawing(unsigned seed) : random_(seed) {}

    Graph run() {
        ids_ = s_.input("ids", {"batch", "len"}, i32);
        Tensor x = embedding(s_ / "words", ids_, 29, 8);
        if (one_of(3) == 0) {
            read_ = embedding(s_ / "read", s_.input("src", {"batch", "src_len"}, i32), 29, 8);
            src_lens_ = s_.input("src_lens", {"batch"}, i32);
        }
        const int layers = 1 + one_of(4);
        for (int i = 0; i < layers; ++i) {
            Scope layer = s_ / "layer" / i;
            x = layer_norm(layer / "norm", x + draw_layer(layer, x));
        }
        s_.output("logits", linear(s_ / "head", x, 11));
        return seal_scans(graph_);
    }

  private:
    int one_of(int count) { return int(random_() % unsigned(count)); }

    Tensor draw_layer(Scope s, Tensor x) {
        switch (one_of(read_.exists() ? 8 : 6)) {
            case 0: return attend(s, x, x, draw_mask());
            case 1: return attend(s, x, tanh(x), draw_mask());
            case 2: return in_heads(s, x);
            case 3: return loop(x);
            case 4: return positions(s, x);
            case 5: return linear(s / "down", gelu(linear(s / "up", x, 12)), 8);
            case 6: return attend(s, x, read_, draw_mask_of_source());
            default: return x * unsqueeze(mean(read_, 1), 1);
        }
    }

    /// What a position sees of the text: itself at least, or nothing and zeros.
    Mask draw_mask() {
        Mask mask = one_of(2) ? causal : window(one_of(9), 0);
        if (one_of(3) == 0) mask = mask & allowed(unsqueeze(ids_ % (2 + one_of(3)) > 0, 1));
        if (one_of(4) == 0) mask = mask & padding(lens());
        return mask.with(MaskedRows::zero);
    }
    /// What a position sees of a source: all of it, or what stands near its own number there.
    Mask draw_mask_of_source() {
        Mask mask = padding(src_lens_);
        if (one_of(2)) mask = mask & (one_of(2) ? causal : window(one_of(6), one_of(3)));
        return one_of(2) ? mask.with(MaskedRows::zero) : mask;
    }
    Tensor lens() {
        if (!lens_.exists()) lens_ = s_.input("lens", {"batch"}, i32);
        return lens_;
    }

    Tensor attend(Scope s, Tensor x, Tensor memory, const Mask& mask) {
        Tensor values = linear(s / "values", memory, 8);
        switch (one_of(4)) {
            case 0: return attention(x, memory, values, dot_product, mask);
            case 1: {
                const auto nearer = [](Pair p) {
                    return dot_product(p) - cast(abs(p.i - p.j), f32) * 0.25;
                };
                return attention(x, memory, values, nearer, mask);
            }
            case 2: {
                Tensor table = s.parameter("distances", {4}, Initial::normal);
                const auto looked_up = [&](Pair p) {
                    return dot_product(p) + at(table, {minimum(abs(p.i - p.j), 3)});
                };
                return attention(x, memory, values, looked_up, mask);
            }
            default: {
                const auto by_row = [](Pair p) {
                    return dot_product(p) * (1.0 + cast(p.i, f32) * 0.125);
                };
                return attention(x, memory, values, by_row, mask);
            }
        }
    }

    /// Two heads over one, with rotary positions.
    Tensor in_heads(Scope s, Tensor x) {
        Tensor q = rotary(rearrange(linear(s / "q", x, 8), "b t (h d) -> b h t d", {"h", 2}));
        Tensor k = rotary(rearrange(linear(s / "k", x, 4), "b t (h d) -> b h t d", {"h", 1}));
        Tensor v = rearrange(linear(s / "v", x, 4), "b t (h d) -> b h t d", {"h", 1});
        const Mask mask = one_of(2) ? causal : window(one_of(9), 0);
        return rearrange(attention(q, k, v, dot_product, mask), "b h t d -> b t (h d)");
    }

    Tensor loop(Tensor x) {
        Tensor along = rearrange(x, "b t d -> t b d"), zeros = full(s_, {"batch", 8}, 0.0);
        if (one_of(3) == 0) return tanh(cumsum(x, 1));
        const bool counts = one_of(2);
        std::vector<Tensor> start = {zeros};
        if (counts) start.push_back(full(s_, {"batch", 1}, one_of(5), i32));
        const auto step = [&](Tensor part, std::vector<Tensor> state) {
            Tensor next = tanh(part + state[0] * 0.5), result = next;
            std::vector<Tensor> after = {next};
            if (counts) {
                result = next * cast(state[1] % 3, f32);
                after.push_back(state[1] + 1);
            }
            return Step{result, after};
        };
        return rearrange(scan(along, start, step).value, "t b d -> b t d");
    }

    Tensor positions(Scope s, Tensor x) {
        switch (one_of(3)) {
            case 0: return x + sinusoids(x);
            case 1: return x * cast(iota(s_, {"len", 1}, 0) % 4, f32);
            default:
                return x +
                       slice(s.parameter("places", {20, 8}, Initial::normal), 0, one_of(4), "len");
        }
    }

    std::mt19937 random_;
    Graph graph_;
    Scope s_{&graph_};
    Tensor ids_, read_, src_lens_, lens_;
};

}  // namespace

TEST_CASE("models drawn at random give token by token what they give of the whole text") {
    const unsigned seed = random_seed();
    for (unsigned i = 0; i < 40; ++i) {
        CAPTURE(i);
        const Graph graph = ModelDrawing(seed + i).run();
        check_token_by_token(graph, {1, 2 + (seed + i) % 10});
    }
}
