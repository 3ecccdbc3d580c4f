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
};

/// The axes of an operand, one letter each, and of the other.
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
    Shape other;
    for (char axis : axes[1]) other.push(sizes.count(axis) ? sizes.at(axis) : d.dim());
    line.operands = {x, d.floats(other)};
    line.whole = {kind};
    return true;
}
Made make_einsum(const Maker& m) {
    const Pattern& pattern = kPatterns[std::size_t(m.whole(0))];
    return {einsum(pattern, m.tensor(0), m.tensor(1)),
            fmt::format("einsum(\"{}\", {}, {})", pattern.text, m.name(0), m.name(1))};
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
    line.whole = {d.chance(0.7)};
    return true;
}
Made make_linear(const Maker& m) {
    const std::string name = m.own_name("linear");
    return {linear(m.scope() / intern(name), m.tensor(0), m.dim(0), {.bias = m.whole(0) != 0}),
            fmt::format("linear(s / \"{}\", {}, {}{})", name, m.name(0), text_of(m.dim(0)),
                        m.whole(0) ? "" : ", {.bias = false}")};
}

}  // namespace

void append_product_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(),
               {{"einsum", 10, draw_einsum, make_einsum}, {"linear", 6, draw_linear, make_linear}});
}

}  // namespace fovea::tool::fuzz
