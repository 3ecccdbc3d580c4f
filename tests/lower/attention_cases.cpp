#include "tests/lower/attention_cases.h"

#include <fmt/format.h>

#include <random>

#include "dsl/fovea.h"

namespace fovea::test {

namespace {

constexpr const char* kScores[] = {"dot_product",      "soft_cap", "alibi",    "alibi_by_head",
                                   "additive",         "banded",   "weighted", "bilinear",
                                   "squared_distance", "biased"};
constexpr const char* kMasks[] = {
    "none",    "causal",      "lens",           "lens_by_query",
    "allowed", "causal_lens", "lens_allowed",   "causal_lens_by_query",
    "window",  "window_lens", "window_allowed", "window_lens_by_query"};

/// Draws one thing after the other.
class Draw {
  public:
    explicit Draw(int number) : random_(unsigned(number) * 7919u + 17u) {}
    int below(int count) { return int(random_() % unsigned(count)); }

  private:
    std::mt19937 random_;
};

Tensor attend(Scope s, const std::string& score, Tensor q, Tensor k, Tensor v, const Mask& mask,
              const AttentionOptions& options) {
    int width = int(q.dim(-1).value());
    auto with = [&](auto function) { return attention(q, k, v, function, mask, options); };
    if (score == "soft_cap") return with([](Pair p) { return 3.0 * tanh(dot_product(p) / 3.0); });
    if (score == "alibi") {
        Tensor slope = s.input("slope", {1});
        return with([=](Pair p) {
            return dot_product(p) + squeeze(slope, 0) * cast(p.j - p.i, f32) * 0.05;
        });
    }
    if (score == "alibi_by_head") {
        Tensor slopes = s.input("slopes", {q.rank() == 4 ? q.dim(1) : Dim(1)});
        return with([=](Pair p) {
            return dot_product(p) + gather(slopes, p.head) * cast(p.j - p.i, f32) * 0.05;
        });
    }
    if (score == "additive") {
        Tensor w = s.input("w", {width});
        return with([=](Pair p) { return dot(w, tanh(p.q + p.k)); });
    }
    if (score == "banded")
        return with([](Pair p) { return where(p.i - p.j < 3, dot_product(p), -1e5); });
    if (score == "weighted") {
        Tensor w = s.input("w", {width});
        return with([=](Pair p) { return sum(w * p.q * p.k, -1) * 0.5; });
    }
    if (score == "bilinear") {
        Tensor w = s.input("W", {width, width});
        return with([=](Pair p) {
            return einsum("i, i ->", p.q, einsum("i j, j -> i", w, p.k)) / double(width);
        });
    }
    if (score == "biased")
        return with(
            [](Pair p) { return dot_product(p) + sum(p.k, -1) * 0.5 - sum(p.q, -1) * 0.25; });
    if (score == "squared_distance")
        return with([](Pair p) {
            Tensor difference = p.q - p.k;
            return -mean(difference * difference, -1);
        });
    return with(dot_product);
}

Mask mask_of(Scope s, const std::string& name, const Shape& scores) {
    Mask mask;
    bool by_query = name.find("by_query") != name.npos;
    if (name.find("causal") != name.npos) mask = mask & causal;
    if (name.find("window") != name.npos) mask = mask & window(5, 2);
    if (name.find("lens") != name.npos)
        mask = mask &
               padding(s.input("lens", by_query ? Shape{"batch", "queries"} : Shape{"batch"}, i32));
    if (name.find("allowed") != name.npos) {
        Shape shape = scores;
        if (shape.rank() == 4) shape[1] = Dim(1);
        mask = mask & allowed(s.input("seen", shape, DType::boolean));
    }
    return mask;
}

}  // namespace

AttentionCase attention_case(int number) {
    Draw draw(number);
    AttentionCase result;
    Scope s{&result.graph};
    constexpr int kWidths[] = {1, 3, 8, 16, 20, 33};
    const std::string score = kScores[std::size_t(number) % std::size(kScores)];
    const std::string name = kMasks[std::size_t(draw.below(int(std::size(kMasks))))];
    int heads = draw.below(3), width = kWidths[draw.below(6)], values = kWidths[draw.below(6)];
    const bool flat = heads == 0;
    auto shape = [&](const char* length, int last) {
        return flat ? Shape{"batch", length, last} : Shape{"batch", heads, length, last};
    };
    Draw layout(number + 5000);
    int turned = 0;
    auto operand = [&](const char* operand_name, const char* length, int last) {
        Shape rows = shape(length, last);
        if (layout.below(4) > 0) return s.input(operand_name, rows);
        ++turned;
        std::swap(rows[-1], rows[-2]);
        const Tensor lying = s.input(operand_name, rows);
        return flat ? rearrange(lying, "b d l -> b l d") : rearrange(lying, "b h d l -> b h l d");
    };
    Tensor q = operand("q", "queries", width), k = operand("k", "keys", width),
           v = operand("v", "keys", values);
    Shape scores = q.shape();
    scores[-1] = k.dim(-2);
    Mask mask = mask_of(s, name, scores);
    bool zero = draw.below(4) == 0;
    if (zero) mask = mask.with(MaskedRows::zero);
    AttentionOptions options{.dropout = draw.below(4) == 0 ? 0.3 : 0};
    result.training = options.dropout > 0;
    s.output("y", attend(s, score, q, k, v, mask, options));
    result.text = fmt::format(
        "case {}: {} mask {}{} dropout {} heads {} width {} values {} turned {}", number, score,
        name, zero ? " zero" : "", options.dropout, heads, width, values, turned);
    return result;
}

AttentionDims attention_dims(int number, int run) {
    Draw draw(1000 * (run + 1) + number);
    constexpr int kLengths[] = {1, 2, 5, 17, 33, 64, 65, 130};
    int count = run < 2 ? 5 : 8;
    std::int64_t batch = 1 + draw.below(3);
    std::int64_t queries = kLengths[draw.below(count)];
    return {{"batch", batch}, {"queries", queries}, {"keys", kLengths[draw.below(count)]}};
}

}  // namespace fovea::test
