// Leaves, elementwise functions, comparisons, casts and dropout.
#include <fmt/format.h>

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

Shape shape_of(const std::vector<Dim>& dims) {
    Shape shape;
    for (const Dim& dim : dims) shape.push(dim);
    return shape;
}

Made make_input(const Maker& m) {
    const std::string name = m.own_name("x");
    const Shape shape = shape_of(m.line().dims);
    const DType memory = m.line().memory;
    if (memory == f32)
        return {m.scope().input(intern(name), shape),
                fmt::format("s.input(\"{}\", {})", name, text_of(shape))};
    return {
        cast(m.scope().input(intern(name), shape, memory), f32),
        fmt::format("cast(s.input(\"{}\", {}, {}), f32)", name, text_of(shape), name_of(memory))};
}
Made make_parameter(const Maker& m) {
    const std::string name = m.own_name("w");
    const Shape shape = shape_of(m.line().dims);
    const bool frozen = !m.line().whole.empty() && m.whole(0);
    const Scope scope = frozen ? m.scope().frozen() : m.scope();
    return {
        scope.parameter(intern(name), shape),
        fmt::format("s{}.parameter(\"{}\", {})", frozen ? ".frozen()" : "", name, text_of(shape))};
}
Made make_ids(const Maker& m) {
    const std::string name = m.own_name("ids");
    const Shape shape = shape_of(m.line().dims);
    return {m.scope().input(intern(name), shape, i32),
            fmt::format("s.input(\"{}\", {}, i32)", name, text_of(shape))};
}
bool never(Drawing&, Line&) { return false; }

bool draw_full(Drawing& d, Line& line) {
    for (const Dim& dim : d.shape(d.below(4))) line.dims.push_back(dim);
    line.numbers = {d.number()};
    return true;
}
Made make_full(const Maker& m) {
    const Shape shape = shape_of(m.line().dims);
    return {full(m.graph(), shape, m.value(0)),
            fmt::format("full(*s.graph, {}, {})", text_of(shape), text_of(m.value(0)))};
}

bool draw_positions(Drawing& d, Line& line) {
    const int rank = 1 + d.below(3), axis = d.below(rank);
    for (int i = 0; i < rank; ++i) line.dims.push_back(i == axis ? d.dim() : Dim(1));
    line.whole = {axis, d.chance(0.7)};
    return true;
}
Made make_positions(const Maker& m) {
    const Shape shape = shape_of(m.line().dims);
    Tensor made = iota(m.graph(), shape, m.whole(0));
    std::string text = fmt::format("iota(*s.graph, {}, {})", text_of(shape), m.whole(0));
    if (!m.whole(1)) return {made, text};
    return {cast(made, f32), fmt::format("cast({}, f32)", text)};
}

/// What depends on a size and does not show it in its shape.
bool draw_sum_of_positions(Drawing& d, Line& line) {
    line.operands = {d.floats(1, 4)};
    line.dims = {d.dim()};
    line.numbers = {d.number()};
    return true;
}
Made make_sum_of_positions(const Maker& m) {
    const Shape shape = {m.tensor(0).dim(0), m.line().dims[0]};
    Tensor waves = sin(cast(iota(m.graph(), shape, 0), f32) * m.value(0));
    return {sum(waves, 0),
            fmt::format("sum(sin(cast(iota(*s.graph, {{{}.dim(0), {}}}, 0), f32) * {}), 0)",
                        m.name(0), text_of(m.line().dims[0]), text_of(m.value(0)))};
}

struct Function {
    const char* name;
    Tensor (*apply)(Tensor);
    enum class Of { any, positive, small } of = Of::any;  // what its operand should be
};
const std::vector<Function> kFunctions = {
    {"exp", [](Tensor x) { return exp(x); }},
    {"log", [](Tensor x) { return log(x); }, Function::Of::positive},
    {"exp2", [](Tensor x) { return exp2(x); }},
    {"log2", [](Tensor x) { return log2(x); }, Function::Of::positive},
    {"sqrt", [](Tensor x) { return sqrt(x); }, Function::Of::positive},
    {"rsqrt", [](Tensor x) { return rsqrt(x); }, Function::Of::positive},
    {"tanh", [](Tensor x) { return tanh(x); }},
    {"sigmoid", [](Tensor x) { return sigmoid(x); }},
    {"relu", [](Tensor x) { return relu(x); }},
    {"erf", [](Tensor x) { return erf(x); }},
    {"sin", [](Tensor x) { return sin(x); }},
    {"cos", [](Tensor x) { return cos(x); }},
    {"gelu", [](Tensor x) { return gelu(x); }},
    {"gelu_tanh", [](Tensor x) { return gelu_tanh(x); }},
    {"abs", [](Tensor x) { return abs(x); }},
    {"sign", [](Tensor x) { return sign(x); }},
    {"floor", [](Tensor x) { return floor(x); }},
    {"ceil", [](Tensor x) { return ceil(x); }},
    {"round", [](Tensor x) { return round(x); }},
    {"trunc", [](Tensor x) { return trunc(x); }},
    {"expm1", [](Tensor x) { return expm1(x); }},
    {"log1p", [](Tensor x) { return log1p(x); }, Function::Of::positive},
    {"square", [](Tensor x) { return square(x); }},
    {"reciprocal", [](Tensor x) { return reciprocal(x); }, Function::Of::positive},
    {"tan", [](Tensor x) { return tan(x); }, Function::Of::small},
    {"atan", [](Tensor x) { return atan(x); }},
    {"silu", [](Tensor x) { return silu(x); }},
    {"softplus", [](Tensor x) { return softplus(x); }},
    {"log_sigmoid", [](Tensor x) { return log_sigmoid(x); }},
    {"mish", [](Tensor x) { return mish(x); }},
    {"leaky_relu", [](Tensor x) { return leaky_relu(x); }},
    {"elu", [](Tensor x) { return elu(x); }},
    {"relu6", [](Tensor x) { return relu6(x); }},
    {"-", [](Tensor x) { return -x; }},
    {"stop_gradient", [](Tensor x) { return stop_gradient(x); }},
};
bool draw_function(Drawing& d, Line& line) {
    line.operands = {d.floats(0, 5)};
    line.whole = {d.below(int(kFunctions.size()))};
    return true;
}
Made make_function(const Maker& m) {
    const Function& f = kFunctions[std::size_t(m.whole(0))];
    Tensor x = m.tensor(0);
    if (f.of == Function::Of::any) return {f.apply(x), fmt::format("{}({})", f.name, m.name(0))};
    if (f.of == Function::Of::small)
        return {f.apply(tanh(x)), fmt::format("{}(tanh({}))", f.name, m.name(0))};
    Tensor square = x * x;
    return {f.apply(square + 0.25),
            fmt::format("{}({} * {} + 0.25)", f.name, m.name(0), m.name(0))};
}

struct Operator {
    const char* form;  // with {} for the operands
    Tensor (*apply)(Operand, Operand);
};
const std::vector<Operator> kOperators = {
    {"{} + {}", [](Operand a, Operand b) { return a + b; }},
    {"{} - {}", [](Operand a, Operand b) { return a - b; }},
    {"{} * {}", [](Operand a, Operand b) { return a * b; }},
    {"maximum({}, {})", [](Operand a, Operand b) { return maximum(a, b); }},
    {"minimum({}, {})", [](Operand a, Operand b) { return minimum(a, b); }},
    {"{1} / ({0} * {0} + 1.0)", [](Operand a, Operand b) { return b / (a * a + 1.0); }},
    {"where({0} < {1}, {0} * 0.5, {1})",
     [](Operand a, Operand b) { return where(a < b, a * 0.5, b); }},
    {"where(eq({0}, {1}), {1}, {0} - {1})",
     [](Operand a, Operand b) { return where(eq(a, b), b, a - b); }},
    {"atan2({}, {})", [](Operand a, Operand b) { return atan2(a, b); }},
    {"clamp({} * 1.0, -0.5, {})", [](Operand a, Operand b) { return clamp((a * 1.0), -0.5, b); }},
    {"floor_divide({}, sigmoid({} * 1.0) + 0.5)",
     [](Operand a, Operand b) { return floor_divide(a, sigmoid(b * 1.0) + 0.5); }},
    {"{} % (sigmoid({} * 1.0) + 0.5)",
     [](Operand a, Operand b) { return a % (sigmoid(b * 1.0) + 0.5); }},
    {"pow(sigmoid({0} * 1.0) + 0.1, {1})",
     [](Operand a, Operand b) { return pow(sigmoid(a * 1.0) + 0.1, b); }},
};
/// The second operand: a tensor, a number, a size or its root.
bool draw_operator(Drawing& d, Line& line) {
    const int x = d.floats(0, 5), kind = d.below(10);
    line.operands = {x};
    line.whole = {d.below(int(kOperators.size())), kind, d.chance(0.3)};
    line.numbers = {d.number()};
    const Shape of_x = d.tensor(x).shape();
    line.dims = {of_x.rank() ? of_x[d.below(of_x.rank())] : Dim(3)};
    if (kind < 7) {
        const Shape shape = d.tensor(x).shape();
        const int other = d.chance(0.5) ? d.pick([&](const Tensor& y) {
            Shape both;
            Text why;
            return y.dtype() == f32 && detail::broadcast_shapes(shape, y.shape(), both, why);
        })
                                        : -1;
        line.operands.push_back(other >= 0 ? other : d.leaf(d.narrower(shape)));
        if (line.whole[2]) std::swap(line.operands[0], line.operands[1]);
    }
    return true;
}
Made make_operator(const Maker& m) {
    const Operator& f = kOperators[std::size_t(m.whole(0))];
    const int kind = m.whole(1);
    const auto made = [&](const Operand& b, const std::string& text) -> Made {
        return {f.apply(m.tensor(0), b), fmt::format(fmt::runtime(f.form), m.name(0), text)};
    };
    if (kind < 7) return made(m.tensor(1), m.name(1));
    if (kind == 7) return made(m.dim(0), fmt::format("({})", text_of(m.dim(0))));
    if (kind == 8) return made(sqrt(m.dim(0)), fmt::format("sqrt({})", text_of(m.dim(0))));
    return made(m.value(0), text_of(m.value(0)));
}

bool draw_cast(Drawing& d, Line& line) {
    line.operands = {d.floats(0, 4)};
    line.whole = {d.below(4)};
    return true;
}
Made make_cast(const Maker& m) {
    Tensor x = m.tensor(0);
    const std::string& name = m.name(0);
    Tensor scaled = x * 2.5;
    Tensor whole = cast(scaled, i32);
    if (m.whole(0) == 0)
        return {cast(whole, f32), fmt::format("cast(cast({} * 2.5, i32), f32)", name)};
    if (m.whole(0) == 1) return {whole, fmt::format("cast({} * 2.5, i32)", name)};
    if (m.whole(0) == 2)
        return {cast(cast(whole, boolean), f32),
                fmt::format("cast(cast(cast({} * 2.5, i32), boolean), f32)", name)};
    Tensor larger = x > 0.25;
    return {cast(larger, f32), fmt::format("cast({} > 0.25, f32)", name)};
}

/// Arithmetic of whole numbers, down to a float.
bool draw_whole(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return t.dtype() == i32; });
    line.operands = {x >= 0 ? x : d.leaf(d.shape(d.below(3)), i32)};
    line.whole = {d.below(10), 1 + d.below(5)};
    return true;
}
Made make_whole(const Maker& m) {
    Tensor x = m.tensor(0);
    const int n = m.whole(1);
    const std::string& name = m.name(0);
    switch (m.whole(0)) {
        case 0: return {x + n, fmt::format("{} + {}", name, n)};
        case 1: return {x * n, fmt::format("{} * {}", name, n)};
        case 2: return {x / n, fmt::format("{} / {}", name, n)};
        case 3: return {cast(x, f32), fmt::format("cast({}, f32)", name)};
        case 5: return {x % n, fmt::format("{} % {}", name, n)};
        case 6: return {floor_divide(x, -n), fmt::format("floor_divide({}, {})", name, -n)};
        case 7: {
            Tensor size = abs(x);
            return {remainder(x, size + n), fmt::format("remainder({0}, abs({0}) + {1})", name, n)};
        }
        case 8: return {sign(x), fmt::format("sign({})", name)};
        case 4:
            return {minimum(maximum(x, -n), n),
                    fmt::format("minimum(maximum({}, {}), {})", name, -n, n)};
        default: {
            Tensor larger = x > n;
            return {where(larger, x, -n), fmt::format("where({} > {}, {}, {})", name, n, name, -n)};
        }
    }
}

bool draw_dropout(Drawing& d, Line& line) {
    line.operands = {d.floats(1, 4)};
    line.numbers = {d.chance(0.5) ? 0.1 : 0.5};
    return true;
}
Made make_dropout(const Maker& m) {
    return {dropout(m.tensor(0), m.value(0)),
            fmt::format("dropout({}, {})", m.name(0), text_of(m.value(0)))};
}

/// A product that gives its gradients itself.
bool draw_own_gradient(Drawing& d, Line& line) {
    const int x = d.floats(0, 4);
    line.operands = {x, d.floats(d.tensor(x).shape())};
    line.whole = {d.chance(0.5)};  // of both operands
    return true;
}
Made make_own_gradient(const Maker& m) {
    const Tensor a = m.tensor(0), b = m.tensor(1);
    const auto both = [&](Tensor dy) {
        const Tensor of_a = dy * b;
        return std::array{of_a, dy * a};
    };
    if (m.whole(0))
        return {custom_gradient(a * b, {a, b}, both),
                fmt::format("custom_gradient({0} * {1}, {{{0}, {1}}}, [&](Tensor dy) {{ "
                            "const Tensor of_a = dy * {1}; "
                            "return std::array{{of_a, dy * {0}}}; }})",
                            m.name(0), m.name(1))};
    const Tensor fixed = stop_gradient(b);
    return {custom_gradient(a * fixed, {a}, [&](Tensor dy) { return dy * fixed; }),
            fmt::format("custom_gradient({0} * stop_gradient({1}), {{{0}}}, "
                        "[&](Tensor dy) {{ return dy * stop_gradient({1}); }})",
                        m.name(0), m.name(1))};
}

}  // namespace

void append_elementwise_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"input", 0, never, make_input},
                           {"parameter", 0, never, make_parameter},
                           {"ids", 0, never, make_ids},
                           {"full", 1, draw_full, make_full},
                           {"positions", 2, draw_positions, make_positions},
                           {"sum_of_positions", 1, draw_sum_of_positions, make_sum_of_positions},
                           {"function", 12, draw_function, make_function},
                           {"operator", 20, draw_operator, make_operator},
                           {"cast", 2, draw_cast, make_cast},
                           {"whole", 3, draw_whole, make_whole},
                           {"dropout", 2, draw_dropout, make_dropout},
                           {"own_gradient", 1, draw_own_gradient, make_own_gradient}});
}

}  // namespace fovea::tool::fuzz
