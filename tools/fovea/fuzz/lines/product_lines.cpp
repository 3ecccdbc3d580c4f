// Contractions: einsum of many patterns, linear layers.
#include <fmt/format.h>

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

const std::vector<Pattern> kPatterns = {
    "a b, b c -> a c",
    "a b, c b -> a c",
    "a b, c b -> c a",
    "b a, b c -> a c",
    "b a, c b -> a c",
    "a b, b -> a",
    "a b, a -> b",
    "a, b -> a b",
    "a b, a b -> a",
    "a b, a b -> b a",
    "a b c, c d -> a b d",
    "a b c, d c -> a b d",
    "a b c, d c -> a d b",
    "a b c, a c d -> a b d",
    "a b c, a d c -> a b d",
    "b a c, a d c -> a b d",
    "a b c, a b d -> c d",
    "a b c, a b c -> c",
    "a b c, b -> a c",
    "a b c, d -> a d",
    "a b c d, a b e d -> a b c e",
    "a b c d, a b d e -> a b c e",
    "a b c d, b e d -> a b c e",
    "a b c d, a c e d -> a b e",
    "a b c, d b -> d",
    "a b -> b a",
    "a b c -> c a",
    "a b, b c, c d -> a d",
    "a b, b, c b -> c a",
    "a, b, c -> a b c",
    "a b c, b d, d c -> a d",
    "a b, a c, a d -> b c d",
    "a b, c b, c d, d -> a",
};

/// The axes of each operand, one letter each.
std::vector<std::string> operands_of(const Pattern& pattern) {
    std::vector<std::string> operands{""};
    for (char c : pattern.text.substr(0, pattern.text.find("->"))) {
        if (c == ',') operands.emplace_back();
        else if (c != ' ') operands.back() += c;
    }
    return operands;
}

bool draw_einsum(Drawing& d, Line& line) {
    const int kind = d.below(int(kPatterns.size()));
    const auto axes = operands_of(kPatterns[std::size_t(kind)]);
    const int rank = int(axes[0].size());
    const int x = d.floats(rank, rank);
    std::map<char, Dim> sizes;
    for (int i = 0; i < rank; ++i) sizes.emplace(axes[0][std::size_t(i)], d.tensor(x).shape()[i]);
    line.operands = {x};
    for (std::size_t k = 1; k < axes.size(); ++k) {
        Shape other;
        for (char axis : axes[k]) {
            if (!sizes.count(axis)) sizes.emplace(axis, d.dim());
            other.push(sizes.at(axis));
        }
        line.operands.push_back(d.floats(other));
    }
    line.whole = {kind};
    return true;
}
Tensor einsum_of(const Pattern& pattern, const Maker& m) {
    switch (m.line().operands.size()) {
        case 1: return einsum(pattern, m.tensor(0));
        case 2: return einsum(pattern, m.tensor(0), m.tensor(1));
        case 3: return einsum(pattern, m.tensor(0), m.tensor(1), m.tensor(2));
        default: return einsum(pattern, m.tensor(0), m.tensor(1), m.tensor(2), m.tensor(3));
    }
}
Made make_einsum(const Maker& m) {
    const Pattern& pattern = kPatterns[std::size_t(m.whole(0))];
    std::string text = fmt::format("einsum(\"{}\"", pattern.text);
    for (std::size_t i = 0; i < m.line().operands.size(); ++i) text += ", " + m.name(int(i));
    return {einsum_of(pattern, m), text + ")"};
}

bool is_static_last(const Tensor& x) {
    return x.dtype() == f32 && x.rank() > 0 && x.rank() < 5 && x.dim(-1).is_static() &&
           x.dim(-1).value() > 0;
}
bool draw_linear(Drawing& d, Line& line) {
    int x = d.pick(is_static_last);
    if (x < 0) {
        Shape shape = d.shape(1 + d.below(2));
        shape.push(Dim(d.width(40)));
        x = d.leaf(shape);
    }
    const Dim out = d.dim();
    line.operands = {x};
    line.dims = {out.is_static() ? out : Dim(d.width(70))};
    line.whole = {d.chance(0.7), d.below(4)};
    return true;
}
/// With a weight of its own, as a rule, laid either way, or with one that is given.
Made make_linear(const Maker& m) {
    const std::string name = m.own_name("linear");
    const bool bias = m.whole(0) != 0, in_out = m.whole(1) == 1;
    const Dim& out = m.dim(0);
    if (m.whole(1) == 2) {
        const Tensor weight = m.scope().parameter(intern(name), {out, m.tensor(0).dim(-1)});
        const std::string own = fmt::format("s.parameter(\"{}\", {{{}, {}}})", name, text_of(out),
                                            text_of(m.tensor(0).dim(-1)));
        return {linear(m.tensor(0), weight), fmt::format("linear({}, {})", m.name(0), own)};
    }
    const std::string options =
        fmt::format("{}{}", bias ? "" : ", {.bias = false",
                    in_out ? bias ? ", {.in_out = true" : ", .in_out = true" : "");
    return {linear(m.scope() / intern(name), m.tensor(0), out, {.bias = bias, .in_out = in_out}),
            fmt::format("linear(s / \"{}\", {}, {}{}{})", name, m.name(0), text_of(out), options,
                        options.empty() ? "" : "}")};
}

/// Two products of one value, one of them behind a gate.
bool draw_gated(Drawing& d, Line& line) {
    if (!draw_linear(d, line)) return false;
    line.whole = {d.below(4), d.chance(0.2)};  // the gate; whether the second has a bias
    return true;
}
Made make_gated(const Maker& m) {
    constexpr const char* kGates[] = {"silu", "gelu", "gelu_tanh", "relu"};
    constexpr Tensor (*kActivations[])(Tensor) = {
        [](Tensor x) { return silu(x); }, [](Tensor x) { return gelu(x); },
        [](Tensor x) { return gelu_tanh(x); }, [](Tensor x) { return relu(x); }};
    const std::string gate = m.own_name("gate"), up = m.own_name("up");
    const bool bias = m.whole(1) != 0;
    const Dim& out = m.dim(0);
    Tensor a = linear(m.scope() / intern(gate), m.tensor(0), out, {.bias = false});
    Tensor b = linear(m.scope() / intern(up), m.tensor(0), out, {.bias = bias});
    return {kActivations[m.whole(0)](a) * b,
            fmt::format("{0}(linear(s / \"{1}\", {2}, {3}, {{.bias = false}})) * "
                        "linear(s / \"{4}\", {2}, {3}, {{.bias = {5}}})",
                        kGates[m.whole(0)], gate, m.name(0), text_of(out), up, bias)};
}

}  // namespace

void append_product_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"einsum", 10, draw_einsum, make_einsum},
                           {"linear", 6, draw_linear, make_linear},
                           {"gated", 3, draw_gated, make_gated}});
}

}  // namespace fovea::tool::fuzz
