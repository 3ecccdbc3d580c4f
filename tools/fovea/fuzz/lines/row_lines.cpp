// Reductions, softmax, norms, losses, positions.
#include <fmt/format.h>

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

bool draw_reduce(Drawing& d, Line& line) {
    const int x = d.floats(1, 5), rank = d.tensor(x).rank();
    const int axis = d.below(rank) - (d.chance(0.4) ? rank : 0);
    line.operands = {x};
    line.whole = {d.below(11), axis, d.chance(0.5)};
    // A mean or a maximum of nothing is no number.
    return d.size(d.tensor(x).shape()[axis]) > 0 || line.whole[0] == 0;
}
Made make_reduce(const Maker& m) {
    const int axis = m.whole(1);
    const bool keep = m.whole(2) != 0;
    Tensor x = m.tensor(0);
    const auto text = [&](const char* name) {
        return fmt::format("{}({}, {}{})", name, m.name(0), axis, keep ? ", true" : "");
    };
    switch (m.whole(0)) {
        case 0:
        case 1: return {sum(x, axis, keep), text("sum")};
        case 2: return {mean(x, axis, keep), text("mean")};
        case 4: return {amin(x, axis, keep), text("amin")};
        case 5: return {argmax(x, axis, keep), text("argmax")};
        case 6: return {argmin(x, axis, keep), text("argmin")};
        case 7: return {logsumexp(x, axis, keep), text("logsumexp")};
        case 8:
            return {variance(x, axis, 0, keep),
                    fmt::format("variance({}, {}, 0{})", m.name(0), axis, keep ? ", true" : "")};
        case 9:
        case 10: {
            const bool every = m.whole(0) == 9;
            Tensor positive = x > 0.1;
            Tensor found = every ? all(positive, axis, keep) : any(positive, axis, keep);
            return {cast(found, f32),
                    fmt::format("cast({}({} > 0.1, {}{}), f32)", every ? "all" : "any", m.name(0),
                                axis, keep ? ", true" : "")};
        }
        default: return {amax(x, axis, keep), text("amax")};
    }
}

bool draw_softmax(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), rank = d.tensor(x).rank();
    line.operands = {x};
    line.whole = {d.chance(0.6) ? -1 : d.below(rank), d.chance(0.3)};
    return true;
}
Made make_softmax(const Maker& m) {
    if (m.whole(1))
        return {log_softmax(m.tensor(0), m.whole(0)),
                fmt::format("log_softmax({}, {})", m.name(0), m.whole(0))};
    return {softmax(m.tensor(0), m.whole(0)),
            fmt::format("softmax({}, {})", m.name(0), m.whole(0))};
}

/// The same in plain ops, which a pass may recognise, or something like it that it may not.
bool draw_spelled_softmax(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), rank = d.tensor(x).rank();
    line.operands = {x};
    line.whole = {d.below(rank), d.below(rank), d.below(4)};
    return d.size(d.tensor(x).shape()) > 0;
}
Made make_spelled_softmax(const Maker& m) {
    Tensor x = m.tensor(0);
    const int axis = m.whole(0), other = m.whole(1);
    Tensor largest = amax(x, axis, true);
    const std::string most = fmt::format("amax({}, {}, true)", m.name(0), axis);
    switch (m.whole(2)) {
        case 0: {
            Tensor e = exp(x - largest);
            return {e / sum(e, axis, true),
                    fmt::format("exp({0} - {1}) / sum(exp({0} - {1}), {2}, true)", m.name(0), most,
                                axis)};
        }
        case 1: {
            Tensor e = exp(x - stop_gradient(largest));
            return {e / sum(e, other, true),
                    fmt::format("exp({0} - stop_gradient({1})) / "
                                "sum(exp({0} - stop_gradient({1})), {2}, true)",
                                m.name(0), most, other)};
        }
        case 2: {
            Tensor e = exp(x - largest);
            return {
                log(sum(e, axis, true)) + largest,
                fmt::format("log(sum(exp({0} - {1}), {2}, true)) + {1}", m.name(0), most, axis)};
        }
        default: {
            Tensor centre = x - mean(x, axis, true);
            Tensor square = centre * centre;
            Tensor variance = mean(square, axis, true);
            return {centre * rsqrt(variance + 1e-5),
                    fmt::format("({0} - mean({0}, {1}, true)) * rsqrt(mean(({0} - mean({0}, {1}, "
                                "true)) * ({0} - mean({0}, {1}, true)), {1}, true) + 1e-5)",
                                m.name(0), axis)};
        }
    }
}

bool draw_norm(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && t.rank() > 0 && t.dim(-1).is_static() && t.dim(-1).value() > 0;
    });
    if (x < 0) return false;
    line.operands = {x};
    line.whole = {d.below(5), d.below(6)};
    const int rank = d.tensor(x).rank();
    if (line.whole[0] == 3 && rank > 4) return false;
    if ((line.whole[0] == 2 || line.whole[0] == 3) && rank < 2) return false;
    if (line.whole[0] == 3)
        return d.size(d.tensor(x).shape()) > 0 && d.tensor(x).dim(1).is_static();
    return line.whole[0] != 1 ||
           (rank > 1 && d.tensor(x).dim(-2).is_static() && d.tensor(x).dim(-2).value() > 0);
}
Made make_norm(const Maker& m) {
    const std::string name = m.own_name("norm"), x = m.name(0);
    const Scope scope = m.scope() / intern(name);
    // Most have all of their parameters.
    const bool weight = m.whole(1) != 0 && m.whole(1) != 1;
    const bool bias = m.whole(1) != 0 && m.whole(1) != 2;
    const std::string parameters = fmt::format(".weight = {}, .bias = {}", weight, bias);
    if (m.whole(0) == 2) {
        BatchNormOptions options;
        options.weight = weight, options.bias = bias;
        return {batch_norm(scope, m.tensor(0), -1, options),
                fmt::format("batch_norm(s / \"{}\", {}, -1, {{{}}})", name, x, parameters)};
    }
    if (m.whole(0) == 3) {
        const std::int64_t channels = m.tensor(0).dim(1).value();
        const std::int64_t groups = channels % 2 ? channels : channels / 2;
        return {group_norm(scope, m.tensor(0), groups, {.weight = weight, .bias = bias}),
                fmt::format("group_norm(s / \"{}\", {}, {}, {{{}}})", name, x, groups, parameters)};
    }
    if (m.whole(0) == 4)
        return {rms_norm(scope, m.tensor(0), {.weight = weight}),
                fmt::format("rms_norm(s / \"{}\", {}, {{.weight = {}}})", name, x, weight)};
    const int axes = 1 + m.whole(0);
    return {
        layer_norm(scope, m.tensor(0), {.axes = axes, .weight = weight, .bias = bias}),
        fmt::format("layer_norm(s / \"{}\", {}, {{.axes = {}, {}}})", name, x, axes, parameters)};
}

bool draw_loss(Drawing& d, Line& line) {
    const int x = d.pick([&](const Tensor& t) {
        return t.dtype() == f32 && t.rank() == 3 && d.size(t.dim(-1)) > 1;
    });
    if (x < 0) return false;
    const Shape shape = d.tensor(x).shape();
    const int labels = d.leaf({shape[0], shape[1]}, i32), lens = d.leaf({shape[0]}, i32);
    line.operands = {x, labels, lens};
    line.whole = {d.below(3)};
    return true;
}
Made make_loss(const Maker& m) {
    if (m.whole(0) == 0)
        return {cross_entropy(m.tensor(0), m.tensor(1), m.tensor(2)),
                fmt::format("cross_entropy({}, {}, {})", m.name(0), m.name(1), m.name(2))};
    const double smoothing = m.whole(0) == 1 ? 0 : 0.1;
    return {smoothed_cross_entropy(m.tensor(0), m.tensor(1), 1, smoothing),
            fmt::format("smoothed_cross_entropy({}, {}, 1, {})", m.name(0), m.name(1),
                        text_of(smoothing))};
}

bool draw_sinusoids(Drawing& d, Line& line) {
    const int x = d.pick(
        [](const Tensor& t) { return t.dtype() == f32 && t.rank() >= 2 && t.dim(-1).is_static(); });
    if (x < 0) return false;
    line.operands = {x};
    return true;
}
Made make_sinusoids(const Maker& m) {
    return {m.tensor(0) + sinusoids(m.tensor(0)), fmt::format("{0} + sinusoids({0})", m.name(0))};
}

/// Positions counted or given, by sequence or for all.
bool draw_rotary(Drawing& d, Line& line) {
    int x = d.pick([](const Tensor& t) {
        return t.dtype() == f32 && t.rank() >= 2 && t.rank() <= 5 && t.dim(-1).is_static() &&
               t.dim(-1).value() > 1;
    });
    if (x < 0 || d.chance(0.3)) {
        Shape shape = d.shape(1 + d.below(3));
        shape.push(Dim(std::int64_t(2 * (1 + d.below(20)))));
        x = d.leaf(shape);
    }
    const Shape& shape = d.tensor(x).shape();
    line.operands = {x};
    const int given = d.below(4);
    if (given == 1) line.operands.push_back(d.leaf({shape[-2]}, i32));
    if (given == 2 && shape.rank() > 2) line.operands.push_back(d.leaf({shape[0], shape[-2]}, i32));
    const std::int64_t pairs = shape[-1].value() / 2;
    const bool whole = shape[-1].value() % 2 == 0 && d.chance(0.6);
    const bool counted = line.operands.size() == 1;
    line.whole = {whole ? 0 : 2 * (1 + d.below(int(pairs))), d.chance(0.5), d.below(4),
                  counted && d.chance(0.4) ? d.below(3000) : 0};
    return true;
}
Made make_rotary(const Maker& m) {
    RotaryOptions options{.theta = 500};
    std::string text = "{.theta = 500";
    if (m.whole(1)) options.pairs = RotaryPairs::neighbours;
    if (m.whole(1)) text += ", .pairs = RotaryPairs::neighbours";
    if (m.whole(0)) text += fmt::format(", .width = {}", m.whole(0));
    options.width = Dim(std::int64_t(m.whole(0)));
    if (m.whole(3)) text += fmt::format(", .offset = {}", m.whole(3));
    options.offset = Dim(std::int64_t(m.whole(3)));
    if (const int kind = m.whole(2); kind > 0) {
        constexpr const char* kNames[] = {"none", "linear", "llama3", "yarn"};
        options.scaling = {
            .rope_type = RotaryScale(kind), .factor = 4, .original_max_position_embeddings = 100};
        text += fmt::format(
            ", .scaling = {{.rope_type = RotaryScale::{}, .factor = 4, "
            ".original_max_position_embeddings = 100}}",
            kNames[kind]);
    }
    text += "}";
    if (m.line().operands.size() == 1)
        return {rotary(m.tensor(0), options), fmt::format("rotary({}, {})", m.name(0), text)};
    return {rotary(m.tensor(0), m.tensor(1), options),
            fmt::format("rotary({}, {}, {})", m.name(0), m.name(1), text)};
}

}  // namespace

void append_row_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"reduce", 9, draw_reduce, make_reduce},
                           {"softmax", 4, draw_softmax, make_softmax},
                           {"spelled softmax", 3, draw_spelled_softmax, make_spelled_softmax},
                           {"norm", 4, draw_norm, make_norm},
                           {"loss", 3, draw_loss, make_loss},
                           {"sinusoids", 1, draw_sinusoids, make_sinusoids},
                           {"rotary", 3, draw_rotary, make_rotary}});
}

}  // namespace fovea::tool::fuzz
