#include "tests/lower/attention_variant.h"

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"

namespace fovea::test {

namespace {

/// The line of the model that kernels name.
constexpr Location kHere{"model.cpp", 12, "model"};

/// Of the score's lambdas, those that look up tables by numbers of the pair.
Tensor attend_by_table(Scope s, Score score, Tensor q, Tensor k, Tensor v, const Mask& mask,
                       const AttentionOptions& options) {
    auto with = [&](auto function) { return attention(q, k, v, function, mask, options, kHere); };
    constexpr int kFar = 4;
    const auto distance = [](Pair p) { return clamp(p.j - p.i, -kFar, kFar) + kFar; };
    const Dim heads = q.rank() == 4 ? q.dim(1) : Dim(1);
    if (score == Score::by_distance) {
        Tensor table = s.input("table", {2 * kFar + 1, heads});
        return with([=](Pair p) { return dot_product(p) + at(table, {distance(p), p.head}); });
    }
    if (score == Score::rows_by_distance) {
        Tensor table = s.input("table", {2 * kFar + 1, q.dim(-1)});
        return with([=](Pair p) { return dot_product(p) + dot(p.q, at(table, {distance(p)})); });
    }
    Tensor table = s.input("table", {3, 7});
    return with([=](Pair p) {
        Tensor row = (p.i + p.j + p.head) % 3;
        return dot_product(p) * at(table, {row, (p.i * 3 + p.j) % 7}) + at(table, {row, p.j % 7});
    });
}

Tensor attend(Scope s, Score score, Tensor q, Tensor k, Tensor v, const Mask& mask,
              const AttentionOptions& options) {
    const Dim width = q.dim(-1);
    auto with = [&](auto function) { return attention(q, k, v, function, mask, options, kHere); };
    switch (score) {
        case Score::dot_product: break;
        case Score::soft_cap: return with([](Pair p) { return 3.0 * tanh(dot_product(p) / 3.0); });
        case Score::alibi: {
            Tensor slope = s.input("slope", {1});
            return with([=](Pair p) {
                return dot_product(p) + squeeze(slope, 0) * cast(p.j - p.i, f32) * 0.05;
            });
        }
        case Score::alibi_by_head: {
            Tensor slopes = s.input("slopes", {q.rank() == 4 ? q.dim(1) : Dim(1)});
            return with([=](Pair p) {
                return dot_product(p) + gather(slopes, p.head) * cast(p.j - p.i, f32) * 0.05;
            });
        }
        case Score::additive: {
            Tensor w = s.input("w", {width});
            return with([=](Pair p) { return dot(w, tanh(p.q + p.k)); });
        }
        case Score::banded:
            return with([](Pair p) { return where(p.i - p.j < 3, dot_product(p), -1e5); });
        case Score::weighted: {
            Tensor w = s.input("w", {width});
            return with([=](Pair p) { return sum(w * p.q * p.k, -1) * 0.5; });
        }
        case Score::bilinear: {
            Tensor w = s.input("W", {width, width});
            return with([=](Pair p) {
                return einsum("i, i ->", p.q, einsum("i j, j -> i", w, p.k)) /
                       double(width.value());
            });
        }
        case Score::squared_distance:
            return with([](Pair p) {
                Tensor difference = p.q - p.k;
                return -mean(difference * difference, -1);
            });
        case Score::by_distance:
        case Score::by_remainder:
        case Score::rows_by_distance: return attend_by_table(s, score, q, k, v, mask, options);
        case Score::biased:
            return with(
                [](Pair p) { return dot_product(p) + sum(p.k, -1) * 0.5 - sum(p.q, -1) * 0.25; });
    }
    return with(dot_product);
}

Mask mask_of(Scope s, const AttentionVariant& variant) {
    using Lengths = AttentionVariant::Lengths;
    Mask mask{.window = variant.window};
    if (variant.lengths != Lengths::none) {
        Shape shape{variant.batch};
        if (variant.lengths == Lengths::queries) shape.push(variant.queries);
        mask = mask & padding(s.input("lens", shape, i32));
    }
    if (variant.segments)
        mask = mask & same(s.input("segments", {variant.batch, variant.queries}, i32));
    if (variant.allowed) {
        Shape shape{variant.batch, variant.queries, variant.keys};
        if (variant.heads > 0) shape = {variant.batch, 1, variant.queries, variant.keys};
        mask = mask & allowed(s.input("seen", shape, DType::boolean));
    }
    return variant.uniform ? mask : mask.with(MaskedRows::zero);
}

/// Makes queries, keys and values [batch, (heads,) length, width] of inputs.
class Operands {
  public:
    Operands(Scope s, const AttentionVariant& variant) : s_(s), variant_(variant) {}

    Tensor operand(const char* name, const Dim& length, int width, Lying lying) const {
        const bool projects = variant_.precision == Precision::bfloat16_memory;
        const bool is_grouped = variant_.key_heads > 0 && name != std::string_view("Q");
        const int heads = is_grouped ? variant_.key_heads : variant_.heads;
        const Tensor x = projects ? projection(name, length, heads, width, lying)
                                  : s_.input(name, shape(length, heads, width, lying));
        if (lying == Lying::heads_inside) return rearrange(x, "b l h d -> b h l d");
        if (lying == Lying::rows) return x;
        return variant_.heads > 0 ? rearrange(x, "b h d l -> b h l d")
                                  : rearrange(x, "b d l -> b l d");
    }

    /// What of attention's output is the model's.
    Tensor output(Tensor seen) const {
        const bool inside = variant_.output_lies == Lying::heads_inside;
        if (inside) seen = rearrange(seen, "b h l d -> b l h d");
        if (variant_.precision != Precision::bfloat16_memory) return seen;
        const Tensor weight = weights("W_output", variant_.heads, variant_.value_width);
        return inside ? einsum("b l h d, h d c -> b l c", seen, weight)
                      : einsum("b h l d, h d c -> b l c", seen, weight);
    }

  private:
    Shape shape(const Dim& length, const Dim& heads, int width, Lying lying) const {
        const Dim& batch = variant_.batch;
        if (lying == Lying::heads_inside) return {batch, length, heads, width};
        const Dim columns = width, row = lying == Lying::rows ? length : columns,
                  column = lying == Lying::rows ? columns : length;
        if (variant_.heads == 0) return {batch, row, column};
        return {batch, heads, row, column};
    }

    /// A product of an input [batch, length, width], which is called after its module.
    Tensor projection(const char* name, const Dim& length, int heads, int width,
                      Lying lying) const {
        const Tensor x = s_.input(name, {variant_.batch, length, width});
        const Tensor weight = weights(intern(std::string("W_") + name), heads, width);
        return value_of(s_ / name, lying == Lying::heads_inside
                                       ? einsum("b l c, h c d -> b l h d", x, weight)
                                       : einsum("b l c, h c d -> b h l d", x, weight));
    }
    Tensor weights(const char* name, int heads, int width) const {
        return s_.parameter(name, {heads, width, width});
    }

    Scope s_;
    const AttentionVariant& variant_;
};

}  // namespace

Graph attention_graph(const AttentionVariant& variant) {
    Graph graph;
    const Scope s{&graph};
    const Operands operands(s, variant);
    const Tensor q = operands.operand("Q", variant.queries, variant.width, variant.query_lies),
                 k = operands.operand("K", variant.keys, variant.width, variant.key_lies),
                 v = operands.operand("V", variant.keys, variant.value_width, variant.value_lies);
    const Mask mask = mask_of(s, variant);
    const Tensor seen = attend(s, variant.score, q, k, v, mask, {.dropout = variant.dropout});
    s.output("O", operands.output(value_of(s / intern(variant.name), seen)));
    return graph;
}

kernel::DimValues attention_sizes(std::int64_t batch, std::int64_t queries, std::int64_t keys) {
    return {{"batch", batch}, {"queries", queries}, {"keys", keys}};
}

}  // namespace fovea::test
