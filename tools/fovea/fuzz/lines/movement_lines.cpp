// What moves values: rearrange, squeeze, broadcast, slice, concat, pad, gather,
// scatter_add.
#include <fmt/format.h>

#include "dsl/fovea.h"
#include "tools/fovea/fuzz/drawing.h"
#include "tools/fovea/fuzz/lines/lines.h"

namespace fovea::tool::fuzz {

namespace {

bool is_value(const Tensor& x) { return x.dtype() != DType::boolean; }

struct Rearrangement {
    Pattern pattern;
    int rank;
    const char* axis = nullptr;  // whose size is given, of the group at input axis `split`
    int split = 0;
};
const std::vector<Rearrangement> kRearrangements = {
    {"a b -> b a", 2},
    {"a b -> a 1 b", 2},
    {"a b -> (a b)", 2},
    {"a b -> (b a)", 2},
    {"a b c -> c b a", 3},
    {"a b c -> b a c", 3},
    {"a b c -> a c b", 3},
    {"a b c -> a (b c)", 3},
    {"a b c -> (a b) c", 3},
    {"a b c -> c (b a)", 3},
    {"a b (h d) -> a h b d", 3, "h", 2},
    {"a (h d) -> a d h", 2, "h", 1},
    {"(h d) a -> h a d", 2, "h", 0},
    {"a b c d -> a c (b d)", 4},
    {"a b c d -> a c b d", 4},
    {"a b c d -> d c b a", 4},
};
bool draw_rearrange(Drawing& d, Line& line) {
    const int kind = d.below(int(kRearrangements.size()));
    const Rearrangement& r = kRearrangements[std::size_t(kind)];
    std::int64_t part = 1;
    const int x = d.pick([&](const Tensor& t) {
        if (t.rank() != r.rank || !is_value(t)) return false;
        if (!r.axis) return true;
        const Dim& dim = t.shape()[r.split];
        return dim.is_static() && dim.value() > 0;
    });
    if (x < 0) return false;
    if (r.axis) {
        const std::int64_t size = d.tensor(x).shape()[r.split].value();
        std::vector<std::int64_t> parts;
        for (std::int64_t n = 1; n <= size; ++n)
            if (size % n == 0) parts.push_back(n);
        part = d.one_of(parts);
    }
    line.operands = {x};
    line.whole = {kind, part};
    return true;
}
Made make_rearrange(const Maker& m) {
    const Rearrangement& r = kRearrangements[std::size_t(m.whole(0))];
    if (!r.axis)
        return {rearrange(m.tensor(0), r.pattern),
                fmt::format("rearrange({}, \"{}\")", m.name(0), r.pattern.text)};
    return {rearrange(m.tensor(0), r.pattern, {r.axis, m.whole(1)}),
            fmt::format("rearrange({}, \"{}\", {{\"{}\", {}}})", m.name(0), r.pattern.text, r.axis,
                        m.whole(1))};
}

bool draw_unsqueeze(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return t.rank() < 5 && is_value(t); });
    if (x < 0) return false;
    line.operands = {x};
    line.whole = {d.below(d.tensor(x).rank() + 1)};
    return true;
}
Made make_unsqueeze(const Maker& m) {
    return {unsqueeze(m.tensor(0), m.whole(0)),
            fmt::format("unsqueeze({}, {})", m.name(0), m.whole(0))};
}

int axis_of_one(const Tensor& x) {
    for (int i = 0; i < x.rank(); ++i)
        if (x.shape()[i].is_one()) return i;
    return -1;
}
bool draw_squeeze(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return is_value(t) && axis_of_one(t) >= 0; });
    if (x < 0) return false;
    const Tensor& tensor = d.tensor(x);
    line.operands = {x};
    line.whole = {axis_of_one(tensor) - (d.chance(0.3) ? tensor.rank() : 0)};
    return true;
}
Made make_squeeze(const Maker& m) {
    return {squeeze(m.tensor(0), m.whole(0)),
            fmt::format("squeeze({}, {})", m.name(0), m.whole(0))};
}

bool draw_broadcast(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return is_value(t) && t.rank() < 5; });
    if (x < 0) return false;
    line.operands = {x};
    if (d.chance(0.4)) line.dims.push_back(d.dim());
    for (const Dim& dim : d.tensor(x).shape())
        line.dims.push_back(dim.is_one() && d.chance(0.8) ? d.dim() : dim);
    return true;
}
Made make_broadcast(const Maker& m) {
    Shape shape;
    for (const Dim& dim : m.line().dims) shape.push(dim);
    return {broadcast(m.tensor(0), shape),
            fmt::format("broadcast({}, {})", m.name(0), text_of(shape))};
}

/// A part of an axis: of a static one at any place, of a symbolic one all but the first, where that
/// is a size for all sizes (len + 1), or a static number of its first.
bool draw_slice(Drawing& d, Line& line) {
    const int x = d.pick([](const Tensor& t) { return is_value(t) && t.rank() > 0; });
    if (x < 0) return false;
    const Shape& shape = d.tensor(x).shape();
    const int axis = d.below(shape.rank());
    const std::int64_t size = d.size(shape[axis]);
    const std::int64_t first = d.below(int(size) + 1);
    Dim taken = Dim(std::int64_t(d.below(int(size - first) + 1))), at = first;
    if (!shape[axis].is_static() && shape[axis].constant() == 1 && d.chance(0.7)) {
        at = Dim(std::int64_t(d.below(2)));
        taken = shape[axis] - Dim(1);
    }
    line.operands = {x};
    line.whole = {axis - (d.chance(0.3) ? shape.rank() : 0)};
    line.dims = {at, taken};
    return true;
}
Made make_slice(const Maker& m) {
    return {slice(m.tensor(0), m.whole(0), m.dim(0), m.dim(1)),
            fmt::format("slice({}, {}, {}, {})", m.name(0), m.whole(0), text_of(m.dim(0)),
                        text_of(m.dim(1)))};
}

bool draw_concat(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), axis = d.below(d.tensor(x).rank());
    const Shape shape = d.tensor(x).shape();
    if (!shape[axis].is_static() && !shape[axis].bare_symbol()) return false;
    int y = d.pick([&](const Tensor& t) {
        if (t.dtype() != f32 || t.rank() != shape.rank()) return false;
        if (!t.shape()[axis].is_static() && !t.shape()[axis].bare_symbol()) return false;
        for (int i = 0; i < shape.rank(); ++i)
            if (i != axis && !fits(t.shape()[i], shape[i])) return false;
        return true;
    });
    if (y < 0 || d.chance(0.3)) {
        Shape other = shape;
        other[axis] = Dim(std::int64_t(d.below(5)));
        y = d.leaf(other);
    }
    line.operands = {x, y};
    if (d.chance(0.5)) std::swap(line.operands[0], line.operands[1]);
    while (line.operands.size() < 5 && d.chance(0.3))
        line.operands.push_back(d.chance(0.5) ? x : y);
    line.whole = {axis};
    return true;
}
Made make_concat(const Maker& m) {
    std::vector<Tensor> parts;
    std::string names;
    for (int i = 0; i < int(m.line().operands.size()); ++i) {
        parts.push_back(m.tensor(i));
        names += (i ? ", " : "") + m.name(i);
    }
    if (parts.size() > 2) names = "{" + names + "}";
    return {concat(parts, m.whole(0)), fmt::format("concat({}, {})", names, m.whole(0))};
}

bool draw_pad(Drawing& d, Line& line) {
    const int x = d.floats(1, 4), axis = d.below(d.tensor(x).rank());
    const Dim& size = d.tensor(x).shape()[axis];
    if (!size.is_static() && !size.bare_symbol()) return false;
    line.operands = {x};
    line.whole = {axis};
    line.dims = {Dim(std::int64_t(d.below(4))), Dim(std::int64_t(d.below(4)))};
    return true;
}
Made make_pad(const Maker& m) {
    return {pad(m.tensor(0), m.whole(0), m.dim(0), m.dim(1)),
            fmt::format("pad({}, {}, {}, {})", m.name(0), m.whole(0), text_of(m.dim(0)),
                        text_of(m.dim(1)))};
}

/// Ids are a new input, the part of one, or positions.
bool draw_gather(Drawing& d, Line& line) {
    const int table = d.floats(1, 3);
    if (d.tensor(table).rank() == 0 || d.size(d.tensor(table).shape()[0]) == 0) return false;
    line.operands = {table, d.leaf(d.shape(d.below(3)), i32)};
    line.whole = {d.below(3)};
    return true;
}
Made make_gather(const Maker& m) {
    const std::string ids = m.name(1);
    switch (m.whole(0)) {
        case 0:
            return {gather(m.tensor(0), m.tensor(1)),
                    fmt::format("gather({}, {})", m.name(0), ids)};
        case 1: {
            Tensor least = maximum(m.tensor(1), 0);
            return {gather(m.tensor(0), minimum(least, 0)),
                    fmt::format("gather({}, minimum(maximum({}, 0), 0))", m.name(0), ids)};
        }
        default: {
            Tensor wide = unsqueeze(m.tensor(1), 0);
            return {gather(m.tensor(0), wide),
                    fmt::format("gather({}, unsqueeze({}, 0))", m.name(0), ids)};
        }
    }
}

bool draw_scatter(Drawing& d, Line& line) {
    const int values = d.floats(1, 3);
    const Shape& shape = d.tensor(values).shape();
    Shape ids;
    for (int i = 0, rank = 1 + d.below(shape.rank()); i < rank; ++i) ids.push(shape[i]);
    line.dims = {Dim(std::int64_t(1 + d.below(9)))};
    line.operands = {values, d.leaf(ids, i32)};
    return true;
}
Made make_scatter(const Maker& m) {
    return {scatter_add(m.tensor(0), m.tensor(1), m.dim(0)),
            fmt::format("scatter_add({}, {}, {})", m.name(0), m.name(1), text_of(m.dim(0)))};
}

}  // namespace

void append_movement_lines(std::vector<FuzzOp>& ops) {
    ops.insert(ops.end(), {{"rearrange", 8, draw_rearrange, make_rearrange},
                           {"unsqueeze", 2, draw_unsqueeze, make_unsqueeze},
                           {"squeeze", 2, draw_squeeze, make_squeeze},
                           {"broadcast", 3, draw_broadcast, make_broadcast},
                           {"slice", 5, draw_slice, make_slice},
                           {"concat", 4, draw_concat, make_concat},
                           {"pad", 2, draw_pad, make_pad},
                           {"gather", 4, draw_gather, make_gather},
                           {"scatter_add", 2, draw_scatter, make_scatter}});
}

}  // namespace fovea::tool::fuzz
