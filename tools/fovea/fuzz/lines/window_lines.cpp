// Steps and windows along an axis: slices in steps, windows, unfold, convolutions, pools.
#include <fmt/format.h>

#include "codegen/graph/rewrite.h"
#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

bool draw_steps(Drawing& d, Line& line) {
    const int x =
        d.pick([](const Tensor& t) { return t.dtype() != DType::boolean && t.rank() > 0; });
    if (x < 0) return false;
    const Shape& shape = d.tensor(x).shape();
    const int axis = d.below(shape.rank()), step = 1 + d.below(4);
    const std::int64_t size = d.size(shape[axis]);
    if (size == 0) return false;
    const std::int64_t first = d.below(int(size));
    const std::int64_t most = (size - first - 1) / step + 1;
    line.operands = {x};
    line.whole = {axis - (d.chance(0.3) ? shape.rank() : 0), step};
    line.dims = {Dim(first), Dim(std::int64_t(d.chance(0.5) ? most : d.below(int(most) + 1)))};
    return true;
}
Made make_steps(const Maker& m) {
    return {slice(m.tensor(0), m.whole(0), m.dim(0), m.dim(1), m.whole(1)),
            fmt::format("slice({}, {}, {}, {}, {})", m.name(0), m.whole(0), text_of(m.dim(0)),
                        text_of(m.dim(1)), m.whole(1))};
}

/// A window's size, stride, padding and dilation that an axis has positions for; at symbolic sizes
/// the stride is 1. False where it has none.
bool draw_window(Drawing& d, const Dim& dim, int most_padding, std::vector<std::int64_t>& whole) {
    const int size = 1 + d.below(3), dilation = d.chance(0.3) ? 2 : 1;
    const int stride = dim.is_static() && d.chance(0.4) ? 2 + d.below(2) : 1;
    const int padding = d.below(most_padding + 1);
    if (d.size(dim) + 2 * padding < (size - 1) * dilation + 1) return false;
    whole.insert(whole.end(), {size, stride, padding, dilation});
    return true;
}

bool draw_windows(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        return t.dtype() != DType::boolean && t.rank() > 0 && t.rank() < 5;
    });
    if (x < 0) return false;
    const Shape& shape = d.tensor(x).shape();
    line.operands = {x};
    line.whole = {d.below(shape.rank()), d.chance(0.3)};
    return draw_window(d, shape[int(line.whole[0])], 0, line.whole);
}
Made make_windows(const Maker& m) {
    const int axis = m.whole(0), size = m.whole(2), stride = m.whole(3), dilation = m.whole(5);
    if (m.whole(1))
        return {unfold(m.tensor(0), axis, size, stride),
                fmt::format("unfold({}, {}, {}, {})", m.name(0), axis, size, stride)};
    return {windows(m.tensor(0), axis, size, {.stride = stride, .dilation = dilation}),
            fmt::format("windows({}, {}, {}, {{.stride = {}, .dilation = {}}})", m.name(0), axis,
                        size, stride, dilation)};
}

/// Of one axis, or of two; operands are x, and a weight and a bias unless they are a module's.
bool draw_conv(Drawing& d, Line& line) {
    const int axes = 1 + d.below(2), x = d.floats(axes + 2, axes + 2);
    const Shape shape = d.tensor(x).shape();
    int groups = 1;
    if (shape[1].is_static() && d.chance(0.4))
        for (int count : {2, 3, int(shape[1].value())})
            if (count > 0 && shape[1].value() % count == 0 && d.chance(0.6)) groups = count;
    const Dim channels = groups == 1 ? shape[1] : shape[1] / Dim(groups);
    const Dim out(std::int64_t(groups * (1 + d.below(3))));
    const bool is_module = d.chance(0.3), has_bias = d.chance(0.5);
    line.whole = {axes, groups, is_module, has_bias};
    for (int i = 0; i < axes; ++i)
        if (!draw_window(d, shape[2 + i], 2, line.whole)) return false;
    line.operands = {x};
    line.dims = {out};
    if (is_module) return channels.is_static();
    Shape weight{out, channels};
    for (int i = 0; i < axes; ++i) weight.push(Dim(line.whole[std::size_t(4 + 4 * i)]));
    line.operands.push_back(d.floats(weight));
    if (has_bias) line.operands.push_back(d.floats(Shape{out}));
    return true;
}
Made make_conv1d(const Maker& m) {
    const int size = m.whole(4), groups = m.whole(1);
    const Conv1dOptions o{m.whole(5), m.whole(6), m.whole(7), groups};
    const std::string options =
        fmt::format("{{.stride = {}, .padding = {}, .dilation = {}, .groups = {}", o.stride,
                    o.padding, o.dilation, groups);
    if (m.whole(2)) {
        const std::string name = m.own_name("conv");
        const bool bias = m.whole(3) != 0;
        return {conv1d(m.scope() / intern(name), m.tensor(0), m.dim(0), size,
                       {o.stride, o.padding, o.dilation, groups, bias}),
                fmt::format("conv1d(s / \"{}\", {}, {}, {}, {}, .bias = {}}})", name, m.name(0),
                            text_of(m.dim(0)), size, options, bias)};
    }
    if (m.whole(3))
        return {conv1d(m.tensor(0), m.tensor(1), m.tensor(2), o),
                fmt::format("conv1d({}, {}, {}, {}}})", m.name(0), m.name(1), m.name(2), options)};
    return {conv1d(m.tensor(0), m.tensor(1), o),
            fmt::format("conv1d({}, {}, {}}})", m.name(0), m.name(1), options)};
}
Made make_conv2d(const Maker& m) {
    const int groups = m.whole(1);
    const auto both = [&](int i) { return ForBoth{m.whole(4 + i), m.whole(8 + i)}; };
    const auto text = [&](int i) {
        return fmt::format("{{{}, {}}}", m.whole(4 + i), m.whole(8 + i));
    };
    const Conv2dOptions o{both(1), both(2), both(3), groups};
    const std::string options =
        fmt::format("{{.stride = {}, .padding = {}, .dilation = {}, .groups = {}", text(1), text(2),
                    text(3), groups);
    if (m.whole(2)) {
        const std::string name = m.own_name("conv");
        const bool bias = m.whole(3) != 0;
        return {conv2d(m.scope() / intern(name), m.tensor(0), m.dim(0), both(0),
                       {o.stride, o.padding, o.dilation, groups, bias}),
                fmt::format("conv2d(s / \"{}\", {}, {}, {}, {}, .bias = {}}})", name, m.name(0),
                            text_of(m.dim(0)), text(0), options, bias)};
    }
    if (m.whole(3))
        return {conv2d(m.tensor(0), m.tensor(1), m.tensor(2), o),
                fmt::format("conv2d({}, {}, {}, {}}})", m.name(0), m.name(1), m.name(2), options)};
    return {conv2d(m.tensor(0), m.tensor(1), o),
            fmt::format("conv2d({}, {}, {}}})", m.name(0), m.name(1), options)};
}
Made make_conv(const Maker& m) { return m.whole(0) == 1 ? make_conv1d(m) : make_conv2d(m); }

bool draw_pool(Drawing& d, Line& line) {
    const int axes = 1 + d.below(2), x = d.floats(axes, 4);
    const Shape& shape = d.tensor(x).shape();
    if (shape.rank() < axes) return false;
    line.operands = {x};
    line.whole = {axes, d.chance(0.5)};
    for (int i = 0; i < axes; ++i) {
        std::vector<std::int64_t> window;
        if (!draw_window(d, shape[i - axes], 0, window)) return false;
        const bool pads = window[0] > 1 && d.chance(0.4);
        line.whole.insert(line.whole.end(), {window[0], window[1], pads});
    }
    return true;
}
Made make_pool(const Maker& m) {
    const Tensor x = m.tensor(0);
    const bool is_mean = m.whole(1) != 0;
    const std::string name = is_mean ? "avg_pool" : "max_pool";
    if (m.whole(0) == 1) {
        const Pool1dOptions o{m.whole(3), m.whole(4)};
        return {is_mean ? avg_pool1d(x, m.whole(2), o) : max_pool1d(x, m.whole(2), o),
                fmt::format("{}1d({}, {}, {{.stride = {}, .padding = {}}})", name, m.name(0),
                            m.whole(2), o.stride, o.padding)};
    }
    const ForBoth kernel{m.whole(2), m.whole(5)};
    const Pool2dOptions o{{m.whole(3), m.whole(6)}, {m.whole(4), m.whole(7)}};
    return {is_mean ? avg_pool2d(x, kernel, o) : max_pool2d(x, kernel, o),
            fmt::format("{}2d({}, {{{}, {}}}, {{.stride = {{{}, {}}}, .padding = {{{}, {}}}}})",
                        name, m.name(0), m.whole(2), m.whole(5), m.whole(3), m.whole(6), m.whole(4),
                        m.whole(7))};
}

}  // namespace

void append_window_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"slice in steps", 3, draw_steps, make_steps},
                           {"windows", 3, draw_windows, make_windows},
                           {"convolution", 4, draw_conv, make_conv},
                           {"pool", 3, draw_pool, make_pool}});
}

}  // namespace fovea::tool::fuzz
