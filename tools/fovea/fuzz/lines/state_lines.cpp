// States and caches, and what is another value while a model is trained.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/graph/intern.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

/// What a state becomes.
enum class Next { value, sum, of_training, kept };

bool is_static(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return dim.is_static(); });
}

/// A state or a cache of the shape of an operand.
bool draw_state(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return t.dtype() == f32; });
    if (x < 0) return false;
    line.operands = {x};
    const Shape shape = d.tensor(x).shape();
    const bool has_all = std::none_of(shape.begin(), shape.end(), [](const Dim& dim) {
        return dim.is_no_size() || dim.is_zero();
    });
    if (!has_all) return false;
    line.whole = {is_static(shape) && d.chance(0.5), d.below(4)};
    return true;
}
Made make_state(const Maker& m) {
    const bool with_parameters = m.whole(0);
    const std::string name = m.own_name(with_parameters ? "state" : "cache");
    const Tensor x = m.tensor(0);
    const Shape shape = x.shape();
    const Tensor state = with_parameters ? m.scope().state(intern(name), shape)
                                         : m.scope().cache(intern(name), shape);
    Tensor next = x;
    std::string text = m.name(0);
    switch (Next(m.whole(1))) {
        case Next::value: break;
        case Next::sum:
            next = state + x;
            text = fmt::format("c + {}", m.name(0));
            break;
        case Next::of_training:
            next = when_training(x, state);
            text = fmt::format("when_training({}, c)", m.name(0));
            break;
        case Next::kept:
            next = state;
            text = "c";
            break;
    }
    m.scope().update(state, next);
    return {state,
            fmt::format("[&] {{ Tensor c = s.{}(\"{}\", {}); s.update(c, {}); return c; }}()",
                        with_parameters ? "state" : "cache", name, text_of(shape), text)};
}

bool draw_mode(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor&) { return true; });
    if (x < 0) return false;
    const int y = d.pick([&](const Tensor& t) {
        return t.dtype() == d.tensor(x).dtype() && fits(t.shape(), d.tensor(x).shape());
    });
    if (y < 0) return false;
    line.operands = {x, y};
    return true;
}
Made make_mode(const Maker& m) {
    return {when_training(m.tensor(0), m.tensor(1)),
            fmt::format("when_training({}, {})", m.name(0), m.name(1))};
}

}  // namespace

void append_state_lines(std::vector<FuzzOp>& ops) {
    ops.push_back({"state", 1, draw_state, make_state});
    ops.push_back({"when_training", 1, draw_mode, make_mode});
}

}  // namespace fovea::tool::fuzz
