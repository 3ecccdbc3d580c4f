#include "tests/lower/attention_cases.h"

#include <fmt/format.h>

#include <random>

#include "tests/lower/attention_variant.h"

namespace fovea::test {

namespace {

/// By number of a score.
constexpr const char* kScores[] = {"dot_product",      "soft_cap", "alibi",       "alibi_by_head",
                                   "additive",         "banded",   "weighted",    "bilinear",
                                   "squared_distance", "biased",   "by_distance", "by_remainder",
                                   "rows_by_distance"};
constexpr const char* kMasks[] = {
    "none",     "causal",          "lens",           "lens_by_query",
    "allowed",  "causal_lens",     "lens_allowed",   "causal_lens_by_query",
    "window",   "window_lens",     "window_allowed", "window_lens_by_query",
    "segments", "causal_segments", "segments_lens",  "window_segments_allowed"};

/// Draws one thing after the other.
class Draw {
  public:
    explicit Draw(int number) : random_(unsigned(number) * 7919u + 17u) {}
    int below(int count) { return int(random_() % unsigned(count)); }

  private:
    std::mt19937 random_;
};

}  // namespace

AttentionCase attention_case(int number) {
    using Lengths = AttentionVariant::Lengths;
    Draw draw(number);
    constexpr int kWidths[] = {1, 3, 8, 16, 20, 33};
    const std::size_t score = std::size_t(number) % std::size(kScores);
    const std::string mask = kMasks[std::size_t(draw.below(int(std::size(kMasks))))];
    const auto masks = [&](const char* what) { return mask.find(what) != mask.npos; };
    AttentionVariant variant{.score = Score(score)};
    variant.heads = draw.below(3);
    variant.width = kWidths[draw.below(6)], variant.value_width = kWidths[draw.below(6)];
    Draw layout(number + 5000);
    int turned = 0;
    for (Lying* lying : {&variant.query_lies, &variant.key_lies, &variant.value_lies})
        if (layout.below(4) == 0) *lying = Lying::columns, ++turned;
    if (masks("causal")) variant.window = kCausal;
    if (masks("window")) variant.window = {5, 2};
    if (masks("lens")) variant.lengths = masks("by_query") ? Lengths::queries : Lengths::sequences;
    variant.allowed = masks("allowed");
    variant.segments = masks("segments");
    if (variant.segments) variant.keys = variant.queries;
    variant.uniform = draw.below(4) != 0;
    variant.dropout = draw.below(4) == 0 ? 0.3 : 0;
    if (variant.heads > 0 && draw.below(3) == 0) {
        variant.key_heads = variant.heads;
        variant.heads *= 1 + draw.below(3);
    }
    return {
        attention_graph(variant),
        fmt::format("case {}: {} mask {}{} dropout {} heads {} of {} width {} values {} turned {}",
                    number, kScores[score], mask, variant.uniform ? "" : " zero", variant.dropout,
                    variant.heads, variant.key_heads, variant.width, variant.value_width, turned),
        variant.dropout > 0};
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
