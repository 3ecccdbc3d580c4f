// Elements chosen by position or size, merged and split axes, and the loss of labels: index_select,
// take_along_dim, scatter_add along an axis, topk, sort, flatten, unflatten, cross_entropy.
#include <fmt/format.h>

#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

/// An axis of x with positions to choose; -1: there is none.
int axis_with_positions(Drawing& d, int x) {
    const Shape& shape = d.tensor(x).shape();
    const int axis = shape.rank() ? d.below(shape.rank()) : -1;
    return axis >= 0 && d.size(shape[axis]) > 0 ? axis : -1;
}

bool draw_index_select(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), axis = axis_with_positions(d, x);
    if (axis < 0) return false;
    line.operands = {x, d.leaf(d.shape(d.below(3)), i32)};
    line.whole = {axis};
    return true;
}
Made make_index_select(const Maker& m) {
    return {index_select(m.tensor(0), m.whole(0), m.tensor(1)),
            fmt::format("index_select({}, {}, {})", m.name(0), m.whole(0), m.name(1))};
}

/// Ids of x's axes but one.
bool draw_along(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), axis = axis_with_positions(d, x);
    if (axis < 0) return false;
    Shape shape = d.tensor(x).shape();
    shape[axis] = d.dim();
    const bool adds = d.chance(0.4);
    line.operands = {x, d.leaf(shape, i32)};
    if (adds) line.operands.push_back(d.floats(shape));
    line.whole = {axis};
    return true;
}
Made make_along(const Maker& m) {
    const int axis = m.whole(0);
    if (m.line().operands.size() == 2)
        return {take_along_dim(m.tensor(0), m.tensor(1), axis),
                fmt::format("take_along_dim({}, {}, {})", m.name(0), m.name(1), axis)};
    return {scatter_add(m.tensor(0), axis, m.tensor(1), m.tensor(2)),
            fmt::format("scatter_add({}, {}, {}, {})", m.name(0), axis, m.name(1), m.name(2))};
}

bool draw_ranked(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), axis = axis_with_positions(d, x);
    if (axis < 0) return false;
    // `sort` has a value for each pair.
    constexpr std::int64_t kMostPairs = 20'000;
    const Shape& shape = d.tensor(x).shape();
    const std::int64_t along = d.size(shape[axis]);
    if (along < 2 || d.size(shape) * along > kMostPairs) return false;
    line.operands = {x};
    line.whole = {axis, d.below(3), d.chance(0.3)};  // which function; values or positions
    return true;
}
Made make_ranked(const Maker& m) {
    const int axis = m.whole(0), kind = m.whole(1);
    const Ranked ranked =
        kind == 0 ? topk<2>(m.tensor(0), axis) : sort(m.tensor(0), axis, kind == 2);
    const std::string call = kind == 0
                                 ? fmt::format("topk<2>({}, {})", m.name(0), axis)
                                 : fmt::format("sort({}, {}, {})", m.name(0), axis, kind == 2);
    if (m.whole(2)) return {ranked.ids, call + ".ids"};
    return {ranked.values, call + ".values"};
}

bool draw_flatten(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), rank = d.tensor(x).rank(), first = d.below(rank);
    const int last = first + d.below(rank - first);
    line.operands = {x};
    line.whole = {first, last, d.chance(0.4)};
    return true;
}
Made make_flatten(const Maker& m) {
    const int first = m.whole(0), last = m.whole(1);
    const std::string text = fmt::format("flatten({}, {}, {})", m.name(0), first, last);
    const Tensor flat = flatten(m.tensor(0), first, last);
    if (!m.whole(2)) return {flat, text};
    Shape shape;  // back, and the result is not what it was
    for (int i = first; i <= last; ++i) shape.push(m.tensor(0).shape()[i]);
    return {unflatten(flat * 2.0, first, shape),
            fmt::format("unflatten({} * 2.0, {}, {})", text, first, text_of(shape))};
}

/// Labels, or where some are ignored, such as are 0 or that.
bool draw_cross_entropy(Drawing& d, Line& line) {
    const int x = d.pick([&](const Tensor& t) {
        return t.dtype() == f32 && t.rank() > 0 && t.rank() < 5 && d.size(t.dim(-1)) > 1;
    });
    if (x < 0) return false;
    const Shape& shape = d.tensor(x).shape();
    Shape of_labels;
    for (int i = 0; i + 1 < shape.rank(); ++i) of_labels.push(shape[i]);
    if (d.size(of_labels) == 0) return false;
    line.operands = {x, d.leaf(of_labels, i32)};
    line.whole = {d.chance(0.4), shape[-1].is_static() && d.chance(0.4), d.chance(0.5)};
    return true;
}
Made make_cross_entropy(const Maker& m) {
    CrossEntropyOptions options;
    std::vector<std::string> texts;
    Tensor labels = m.tensor(1);
    std::string name = m.name(1);
    if (m.whole(0)) {
        options.ignored = -1;
        texts.emplace_back(".ignored = -1");
        labels = minimum(maximum(labels, -1), 0);
        name = fmt::format("minimum(maximum({}, -1), 0)", name);
    }
    if (m.whole(1)) {
        options.label_smoothing = 0.1;
        texts.emplace_back(".label_smoothing = 0.1");
    }
    if (m.whole(0) || m.whole(2)) {  // the mean of none is no number
        options.mean = false;
        texts.emplace_back(".mean = false");
    }
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
    return {cross_entropy(m.tensor(0), labels, options),
            fmt::format("cross_entropy({}, {}{})", m.name(0), name,
                        list.empty() ? "" : ", {" + list + "}")};
}

}  // namespace

void append_selection_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"index_select", 2, draw_index_select, make_index_select},
                           {"along", 2, draw_along, make_along},
                           {"ranked", 2, draw_ranked, make_ranked},
                           {"flatten", 2, draw_flatten, make_flatten},
                           {"labels", 2, draw_cross_entropy, make_cross_entropy}});
}

}  // namespace fovea::tool::fuzz
