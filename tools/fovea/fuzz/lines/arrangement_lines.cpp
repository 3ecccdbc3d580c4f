// What is made of movements and loops: stack, split, chunk, tile, flip, triangles, one_hot, running
// sums and products.
#include <fmt/format.h>

#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

int axis_written(Drawing& d, int rank) {
    const int axis = d.below(rank);
    return d.chance(0.4) ? axis - rank : axis;
}

bool draw_stack(Drawing& d, Line& line) {
    const int x = d.floats(0, 4);
    const Shape shape = d.tensor(x).shape();
    line.operands = {x, d.floats(shape)};
    line.whole = {d.below(shape.rank() + 1)};
    return true;
}
Made make_stack(const Maker& m) {
    return {stack({m.tensor(0), m.tensor(1), m.tensor(0)}, m.whole(0)),
            fmt::format("stack({{{0}, {1}, {0}}}, {2})", m.name(0), m.name(1), m.whole(0))};
}

/// Two halves, put together the other way around.
bool draw_chunk(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        if (t.dtype() != f32) return false;
        for (const Dim& dim : t.shape())
            if (dim.divisible_by(2)) return true;
        return false;
    });
    if (x < 0) return false;
    const Shape shape = d.tensor(x).shape();
    int axis = d.below(shape.rank());
    while (!shape[axis].divisible_by(2)) axis = (axis + 1) % shape.rank();
    line.operands = {x};
    line.whole = {axis};
    return true;
}
Made make_chunk(const Maker& m) {
    const int axis = m.whole(0);
    auto [first, second] = chunk<2>(m.tensor(0), axis);
    return {second * 2.0 - first,
            fmt::format("chunk<2>({0}, {1})[1] * 2.0 - chunk<2>({0}, {1})[0]", m.name(0), axis)};
}

bool draw_split(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        return t.dtype() != DType::boolean && t.rank() > 0 && t.dim(-1).is_static();
    });
    if (x < 0) return false;
    const std::int64_t size = d.tensor(x).dim(-1).value();
    const std::int64_t first = d.below(int(size) + 1);
    line.operands = {x};
    line.dims = {Dim(first), Dim(size - first)};
    line.whole = {d.below(2)};
    return true;
}
Made make_split(const Maker& m) {
    const auto parts = split(m.tensor(0), {m.dim(0), m.dim(1)}, -1);
    return {parts[std::size_t(m.whole(0))],
            fmt::format("split({}, {{{}, {}}}, -1)[{}]", m.name(0), text_of(m.dim(0)),
                        text_of(m.dim(1)), m.whole(0))};
}

bool draw_copies(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) {
        return t.dtype() != DType::boolean && t.rank() > 0 && t.rank() < 5;
    });
    if (x < 0) return false;
    const int axis = axis_written(d, d.tensor(x).rank());
    const Dim& size = d.tensor(x).dim(axis);
    if (!size.is_static() && !size.bare_symbol()) return false;
    line.operands = {x};
    line.whole = {axis, 1 + d.below(3), d.chance(0.5)};
    return true;
}
Made make_copies(const Maker& m) {
    const int axis = m.whole(0), count = m.whole(1);
    if (m.whole(2))
        return {tile(m.tensor(0), axis, count),
                fmt::format("tile({}, {}, {})", m.name(0), axis, count)};
    return {repeat_interleave(m.tensor(0), axis, count),
            fmt::format("repeat_interleave({}, {}, {})", m.name(0), axis, count)};
}

bool draw_flip(Drawing& d, Line& line) {
    const int x = d.floats(1, 4);
    line.operands = {x};
    line.whole = {axis_written(d, d.tensor(x).rank())};
    return true;
}
Made make_flip(const Maker& m) {
    return {flip(m.tensor(0), m.whole(0)), fmt::format("flip({}, {})", m.name(0), m.whole(0))};
}

bool draw_triangle(Drawing& d, Line& line) {
    line.operands = {d.floats(2, 4)};
    line.whole = {d.below(5) - 2, d.chance(0.5)};
    return true;
}
Made make_triangle(const Maker& m) {
    const int diagonal = m.whole(0);
    if (m.whole(1))
        return {triu(m.tensor(0), diagonal), fmt::format("triu({}, {})", m.name(0), diagonal)};
    return {tril(m.tensor(0), diagonal), fmt::format("tril({}, {})", m.name(0), diagonal)};
}

bool draw_one_hot(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return t.dtype() == i32 && t.rank() < 4; });
    line.operands = {x >= 0 ? x : d.leaf(d.shape(d.below(3)), i32)};
    line.dims = {d.chance(0.5) ? d.dim() : Dim(std::int64_t(1 + d.below(20)))};
    return true;
}
Made make_one_hot(const Maker& m) {
    return {one_hot(m.tensor(0), m.dim(0)),
            fmt::format("one_hot({}, {})", m.name(0), text_of(m.dim(0)))};
}

bool draw_cumulative(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), rank = d.tensor(x).rank();
    line.operands = {x};
    line.whole = {axis_written(d, rank), d.below(3), d.chance(0.5)};
    return true;
}
Made make_cumulative(const Maker& m) {
    const int axis = m.whole(0);
    Tensor x = m.tensor(0);
    const auto text = [&](const char* name, const char* rest = "") {
        return fmt::format("{}({}, {}{})", name, m.name(0), axis, rest);
    };
    if (m.whole(1) == 0) return {cumsum(x, axis), text("cumsum")};
    if (m.whole(1) == 1) return {cumprod(x, axis), text("cumprod")};
    if (m.whole(2)) return {prod(x, axis, true), text("prod", ", true")};
    return {prod(x, axis), text("prod")};
}

}  // namespace

void append_arrangement_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"stack", 2, draw_stack, make_stack},
                           {"chunk", 2, draw_chunk, make_chunk},
                           {"split", 2, draw_split, make_split},
                           {"copies", 2, draw_copies, make_copies},
                           {"flip", 1, draw_flip, make_flip},
                           {"triangle", 2, draw_triangle, make_triangle},
                           {"one_hot", 1, draw_one_hot, make_one_hot},
                           {"cumulative", 1, draw_cumulative, make_cumulative}});
}

}  // namespace fovea::tool::fuzz
