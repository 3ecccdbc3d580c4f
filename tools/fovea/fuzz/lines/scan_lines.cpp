// Loops over time: steps of several forms over [steps, batch, width].
#include <fmt/format.h>

#include <array>

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

using Two = std::array<Tensor, 2>;

/// A step of one state: what it returns as its value, and as the next state.
struct StepForm {
    const char *value, *next;  // of x, the slice, and h, the state; w is captured
    Tensor (*value_of)(Tensor x, Tensor h, Tensor w);
    Tensor (*next_of)(Tensor x, Tensor h, Tensor w);
};
const std::vector<StepForm> kScanSteps = {
    {"h", "tanh(x + h * 0.5)", [](Tensor, Tensor h, Tensor) { return h; },
     [](Tensor x, Tensor h, Tensor) { return tanh(x + h * 0.5); }},
    {"h * x", "h + x", [](Tensor x, Tensor h, Tensor) { return h * x; },
     [](Tensor x, Tensor h, Tensor) { return h + x; }},
    {"x - h", "tanh(einsum(\"a b, b c -> a c\", h, w) + x)",
     [](Tensor x, Tensor h, Tensor) { return x - h; },
     [](Tensor x, Tensor h, Tensor w) { return tanh(einsum("a b, b c -> a c", h, w) + x); }},
    {"softmax(h)", "maximum(x, h * 0.9)", [](Tensor, Tensor h, Tensor) { return softmax(h); },
     [](Tensor x, Tensor h, Tensor) { return maximum(x, h * 0.9); }},
    {"sum(h, -1)", "sigmoid(einsum(\"a b, c b -> a c\", x, w)) * h + x",
     [](Tensor, Tensor h, Tensor) { return sum(h, -1); },
     [](Tensor x, Tensor h, Tensor w) { return sigmoid(einsum("a b, c b -> a c", x, w)) * h + x; }},
    {"relu(h - x)", "where(x < 0.0, h, x)", [](Tensor x, Tensor h, Tensor) { return relu(h - x); },
     [](Tensor x, Tensor h, Tensor) { return where(x < 0.0, h, x); }},
    {"dropout(h, 0.2)", "dropout(x, 0.5) + h * 0.5",
     [](Tensor, Tensor h, Tensor) { return dropout(h, 0.2); },
     [](Tensor x, Tensor h, Tensor) { return dropout(x, 0.5) + h * 0.5; }},
};

bool draw_scan(Drawing& d, Line& line) {
    int x = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && t.rank() == 3 && t.dim(-1).is_static() && t.dim(-1).value() > 0;
    });
    if (x < 0) x = d.leaf({d.dim(), d.dim(), Dim(std::int64_t(1 + d.below(20)))});
    const Shape shape = d.tensor(x).shape();
    if (d.size(shape[0]) > 12 || d.size(shape) == 0) return false;
    const Dim width = shape[-1].without_label();
    line.operands = {x, d.floats({shape[1], shape[2]}), d.leaf({width, width})};
    line.whole = {d.below(int(kScanSteps.size())), d.chance(0.3), d.chance(0.5)};
    return true;
}
Made make_scan(const Maker& m) {
    const StepForm& form = kScanSteps[std::size_t(m.whole(0))];
    const Tensor w = m.tensor(2);
    auto result = scan(m.tensor(0), m.tensor(1),
                       [&](Tensor x, Tensor h) {
                           Tensor value = form.value_of(x, h, w);
                           Tensor next = form.next_of(x, h, w);
                           return Step{value, next};
                       },
                       {.reverse = m.whole(1) != 0});
    const std::string text = fmt::format(
        "scan({}, {}, [w = {}](Tensor x, Tensor h) {{\n"
        "        (void)w;\n"
        "        return Step{{{}, {}}};\n    }}, {{.reverse = {}}})",
        m.name(0), m.name(1), m.name(2), form.value, form.next, m.whole(1) ? "true" : "false");
    return {m.whole(2) ? result.value : result.state, text + (m.whole(2) ? ".value" : ".state")};
}

/// A state that has a gradient beside one that counts.
bool draw_counting_scan(Drawing& d, Line& line) {
    if (!draw_scan(d, line)) return false;
    const Shape shape = d.tensor(line.operands[0]).shape();
    line.operands = {line.operands[0], line.operands[1], d.leaf({shape[1], shape[2]}, i32)};
    return true;
}
Made make_counting_scan(const Maker& m) {
    auto result =
        scan(m.tensor(0), Two{m.tensor(1), m.tensor(2)},
             [](Tensor x, Two states) {
                 Tensor next = states[0] * 0.5 + x;
                 return Step{x * cast(states[1], f32) + states[0], Two{next, states[1] + 1}};
             },
             {.reverse = m.whole(1) != 0});
    const std::string text = fmt::format(
        "scan({}, std::array{{{}, {}}}, [](Tensor x, std::array<Tensor, 2> states) {{\n"
        "        return Step{{x * cast(states[1], f32) + states[0],\n"
        "                    std::array{{states[0] * 0.5 + x, states[1] + 1}}}};\n"
        "    }}, {{.reverse = {}}})",
        m.name(0), m.name(1), m.name(2), m.whole(1) ? "true" : "false");
    return {m.whole(2) ? result.value : result.state[0],
            text + (m.whole(2) ? ".value" : ".state[0]")};
}

bool draw_lstm(Drawing& d, Line& line) {
    int x = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && t.rank() == 3 && t.dim(-1).is_static() && t.dim(-1).value() > 0;
    });
    if (x < 0) x = d.leaf({d.dim(), d.dim(), Dim(std::int64_t(1 + d.below(20)))});
    if (d.size(d.tensor(x).dim(0)) > 12) return false;
    line.operands = {x};
    line.dims = {Dim(std::int64_t(1 + d.below(18)))};
    return true;
}
Made make_lstm(const Maker& m) {
    const std::string name = m.own_name("rnn");
    Tensor x = m.tensor(0);
    const LSTMLayer layer =
        lstm_layer(m.scope() / intern(name), x.dim(-1).without_label(), m.dim(0));
    auto result = lstm(layer, x, lstm_start(m.graph(), x.dim(1), m.dim(0)));
    return {
        result.value,
        fmt::format("lstm(lstm_layer(s / \"{}\", {}, {}), {}, lstm_start(*s.graph, {}, {})).value",
                    name, text_of(x.dim(-1).without_label()), text_of(m.dim(0)), m.name(0),
                    text_of(x.dim(1)), text_of(m.dim(0)))};
}

}  // namespace

void append_scan_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"scan", 4, draw_scan, make_scan},
                           {"counting_scan", 1, draw_counting_scan, make_counting_scan},
                           {"lstm", 1, draw_lstm, make_lstm}});
}

}  // namespace fovea::tool::fuzz
