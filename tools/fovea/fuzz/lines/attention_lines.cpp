// Attention of any score and mask, its weights, and softmax over masked scores.
#include <fmt/format.h>

#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

/// A score; those that take a tensor capture it.
struct ScoreText {
    const char* text;  // with {0} for the captured tensor
    enum class Capture { none, scalar, heads, width, by_distance, by_remainder } capture;
};
using Capture = ScoreText::Capture;
const std::vector<ScoreText> kScores = {
    {"dot_product(p)", Capture::none},
    {"3.0 * tanh(dot_product(p) / 3.0)", Capture::none},
    {"dot(p.q, p.k) - dot(p.k, p.k) * 0.5", Capture::none},
    {"where(p.i - p.j < 3, dot_product(p), -1e5)", Capture::none},
    {"dot_product(p) + squeeze({0}, 0) * cast(p.j - p.i, f32) * 0.05", Capture::scalar},
    {"dot_product(p) + gather({0}, p.head) * cast(p.j - p.i, f32) * 0.05", Capture::heads},
    {"dot({0}, tanh(p.q + p.k))", Capture::width},
    {"sum({0} * p.q * p.k, -1) * 0.5", Capture::width},
    {"dot({0}, sigmoid(p.q - p.k)) + cast(p.j, f32) * 0.01", Capture::width},
    {"dot_product(p) + sum(p.k, -1) * 0.5 - sum(p.q, -1) * 0.25", Capture::none},
    {"sum(p.q, -1) * 0.25 + cast(p.i, f32) * 0.1", Capture::none},
    {"squeeze({0}, 0) * 0.5", Capture::scalar},
    {"dot_product(p) * 0.0 - cast(p.j, f32) * 0.1", Capture::none},
    {"dot_product(p) + at({0}, {{p.head, clamp(p.j - p.i, -4, 4) + 4}})", Capture::by_distance},
    {"dot_product(p) + at({0}, {{clamp(p.i - p.j, 0, 6), p.head}})", Capture::by_remainder},
    {"dot_product(p) * at({0}, {{(p.i * 2 + p.j) % 7, p.head}})", Capture::by_remainder},
};
Tensor score_of(int kind, Pair p, Tensor w) {
    switch (kind) {
        case 0: return dot_product(p);
        case 1: return 3.0 * tanh(dot_product(p) / 3.0);
        case 2: return dot(p.q, p.k) - dot(p.k, p.k) * 0.5;
        case 3: return where(p.i - p.j < 3, dot_product(p), -1e5);
        case 4: return dot_product(p) + squeeze(w, 0) * cast(p.j - p.i, f32) * 0.05;
        case 5: return dot_product(p) + gather(w, p.head) * cast(p.j - p.i, f32) * 0.05;
        case 6: return dot(w, tanh(p.q + p.k));
        case 7: return sum(w * p.q * p.k, -1) * 0.5;
        case 8: return dot(w, sigmoid(p.q - p.k)) + cast(p.j, f32) * 0.01;
        case 9: return dot_product(p) + sum(p.k, -1) * 0.5 - sum(p.q, -1) * 0.25;
        case 10: return sum(p.q, -1) * 0.25 + cast(p.i, f32) * 0.1;
        case 11: return squeeze(w, 0) * 0.5;
        case 12: return dot_product(p) * 0.0 - cast(p.j, f32) * 0.1;
        case 13: return dot_product(p) + at(w, {p.head, clamp(p.j - p.i, -4, 4) + 4});
        case 14: return dot_product(p) + at(w, {clamp(p.i - p.j, 0, 6), p.head});
        default: return dot_product(p) * at(w, {(p.i * 2 + p.j) % 7, p.head});
    }
}

/// Bits of a mask.
enum MaskPart {
    kCausal = 1,
    kLens = 2,
    kLensByQuery = 4,
    kBand = 8,
    kZero = 16,
    kWindow = 32,  // its distances are the second byte and the third
    kSame = 64,
};

/// How far a window goes: to its own position, a few keys, or about a tile.
int draw_distance(Drawing& d) { return d.chance(0.3) ? 0 : d.below(d.chance(0.6) ? 6 : 80); }

int draw_mask(Drawing& d) {
    int mask = 0;
    if (d.chance(0.4)) mask |= kCausal;
    if (d.chance(0.5)) mask |= d.chance(0.7) ? kLens : kLensByQuery;
    if (d.chance(0.15)) mask |= kBand;
    if (d.chance(0.25)) mask |= kZero;
    if (d.chance(0.2)) mask |= kSame;
    if (d.chance(0.25)) {
        const int before = draw_distance(d), after = draw_distance(d);
        mask |= kWindow | before << 8 | after << 16;
    }
    return mask;
}
/// Lengths and segments, which are of as many queries as keys.
void draw_lens(Drawing& d, Line& line, std::size_t number, const Shape& scores) {
    const bool has_segments = scores.rank() > 2 && scores[-2] == scores[-1];
    if (!has_segments) line.whole[number] &= ~kSame;
    const int mask = int(line.whole[number]);
    if (mask & kLens) line.operands.push_back(d.leaf({scores[0]}, i32));
    if (mask & kLensByQuery) line.operands.push_back(d.leaf({scores[0], scores[-2]}, i32));
    if (mask & kSame) line.operands.push_back(d.leaf({scores[0], scores[-1]}, i32));
}
/// The mask, and its text. Lengths are operand `lens` of the line, or segments, which come behind.
std::pair<Mask, std::string> mask_of(const Maker& m, int mask, int lens, const Shape& scores) {
    Mask made = no_mask;
    std::string text = "no_mask";
    if (mask & kCausal) made = made & causal, text += " & causal";
    if (mask & kWindow) {
        const int before = mask >> 8 & 255, after = mask >> 16 & 255;
        made = made & window(before, after);
        text += fmt::format(" & window({}, {})", before, after);
    }
    if (mask & (kLens | kLensByQuery)) {
        made = made & padding(m.tensor(lens));
        text += fmt::format(" & padding({})", m.name(lens));
        ++lens;
    }
    if (mask & kSame) {
        made = made & same(m.tensor(lens));
        text += fmt::format(" & same({})", m.name(lens));
    }
    if (mask & kBand) {
        Shape rows, columns;
        for (int i = 0; i < scores.rank(); ++i) {
            rows.push(i == scores.rank() - 2 ? scores[i] : Dim(1));
            columns.push(i == scores.rank() - 1 ? scores[i] : Dim(1));
        }
        const int rank = scores.rank();
        Tensor row = iota(m.graph(), rows, rank - 2);
        Tensor column = iota(m.graph(), columns, rank - 1);
        made = made & allowed(row - column < 4);
        text += fmt::format(" & allowed(iota(*s.graph, {}, {}) - iota(*s.graph, {}, {}) < 4)",
                            text_of(rows), rank - 2, text_of(columns), rank - 1);
    }
    if (mask & kZero) {
        made = made.with(MaskedRows::zero);
        text = fmt::format("({}).with(MaskedRows::zero)", text);
    }
    return {made, text};
}

bool draw_masked_softmax(Drawing& d, Line& line) {
    const int x = d.floats(2, 4), mask = draw_mask(d);
    const Shape scores = d.tensor(x).shape();
    if (d.size(scores) == 0) return false;
    line.operands = {x};
    line.whole = {mask};
    if (scores.rank() == 2) line.whole[0] &= ~(kLensByQuery | kBand);
    draw_lens(d, line, 0, scores);
    return true;
}
Made make_masked_softmax(const Maker& m) {
    const auto [mask, text] = mask_of(m, m.whole(0), 1, m.tensor(0).shape());
    return {masked_softmax(m.tensor(0), mask),
            fmt::format("masked_softmax({}, {})", m.name(0), text)};
}

/// How many heads of keys so many of queries may read.
Dim draw_groups(Drawing& d, const Dim& heads) {
    if (!heads.is_static() || heads.value() == 0) return d.chance(0.5) ? Dim(1) : heads;
    std::int64_t groups = 1 + d.below(int(heads.value()));
    while (heads.value() % groups) --groups;
    return groups;
}

/// Operands: q, k, v, then lengths if any, then what the score captures if anything.
bool draw_attention(Drawing& d, Line& line) {
    int q = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && (t.rank() == 3 || t.rank() == 4) && t.dim(-1).is_static();
    });
    if (q < 0 || d.chance(0.3)) {
        Shape shape = d.shape(2 + d.below(2));
        shape.push(Dim(d.head_width()));
        q = d.leaf(shape);
    }
    const Shape queries = d.tensor(q).shape();
    if (d.size(queries[-1]) == 0) return false;
    Shape keys = queries;
    if (d.chance(0.6)) keys[-2] = d.dim();
    if (queries.rank() == 4 && d.chance(0.4)) keys[1] = draw_groups(d, queries[1]);
    Shape values = keys;
    if (d.chance(0.3)) values[-1] = Dim(std::int64_t(1 + d.below(20)));
    if (d.size(keys[-2]) == 0) return false;
    const int kind = d.below(int(kScores.size())), mask = draw_mask(d);
    line.operands = {q, d.floats(keys), d.floats(values)};
    line.whole = {kind, mask, d.chance(0.15)};
    line.numbers = {d.chance(0.25) ? 0.2 : 0};
    Shape scores = queries;
    scores[-1] = keys[-2];
    if (d.size(scores) > 12'000) return false;
    draw_lens(d, line, 1, scores);
    const Dim heads = queries.rank() == 4 ? queries[1] : Dim(1);
    switch (kScores[std::size_t(kind)].capture) {
        case Capture::none: break;
        case Capture::scalar: line.operands.push_back(d.leaf({Dim(1)})); break;
        case Capture::heads: line.operands.push_back(d.leaf({heads})); break;
        case Capture::by_distance: line.operands.push_back(d.leaf({heads, Dim(9)})); break;
        case Capture::by_remainder: line.operands.push_back(d.leaf({Dim(7), heads})); break;
        default: line.operands.push_back(d.leaf({queries[-1].without_label()})); break;
    }
    return true;
}
Made make_attention(const Maker& m) {
    const int kind = m.whole(0), parts = m.whole(1);
    Shape scores = m.tensor(0).shape();
    scores[-1] = m.tensor(1).shape()[-2];
    const auto [mask, mask_text] = mask_of(m, parts, 3, scores);
    const ScoreText& score = kScores[std::size_t(kind)];
    const bool captures = score.capture != Capture::none;
    const int last = int(m.line().operands.size()) - 1;
    const Tensor w = captures ? m.tensor(last) : Tensor{};
    const auto function = [&](Pair p) { return score_of(kind, p, w); };
    const std::string lambda =
        fmt::format("[=](Pair p) {{ return {}; }}",
                    fmt::format(fmt::runtime(score.text), captures ? m.name(last) : ""));
    if (m.whole(2))
        return {attention_weights(m.tensor(0), m.tensor(1), function, mask),
                fmt::format("attention_weights({}, {}, {}, {})", m.name(0), m.name(1), lambda,
                            mask_text)};
    return {
        attention(m.tensor(0), m.tensor(1), m.tensor(2), function, mask, {.dropout = m.value(0)}),
        fmt::format("attention({}, {}, {}, {}, {}, {{.dropout = {}}})", m.name(0), m.name(1),
                    m.name(2), lambda, mask_text, text_of(m.value(0)))};
}

}  // namespace

void append_attention_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"masked_softmax", 4, draw_masked_softmax, make_masked_softmax},
                           {"attention", 8, draw_attention, make_attention}});
}

}  // namespace fovea::tool::fuzz
