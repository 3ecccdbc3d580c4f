// Rotary positions (Su et al. 2021): two features of a head are a point of the plane, which is
// turned by an angle that grows with the position.
//
// A frequency is a power of theta, an angle a position times it, up to 131072 at positions that
// checkpoints of today know: a float keeps 7 digits of that, of which 5 stand before the point.
// (transformers rounds both, and at such positions its angles are up to 0.01 off.) Here neither is
// ever rounded to float32: `cos_scaled` takes the position and the logarithm of the frequency, in
// two parts, of which the first is exact, and goes on in double precision. Cosines and sines are
// within 1e-6 at positions up to 2^24.
#pragma once

#include "codegen/base/constant_math.h"
#include "codegen/ops/composed/composed.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/ternary.h"

namespace fovea {

/// Which two features are turned together: i and i + width / 2 (GPT-NeoX, Llama), or 2 i and its
/// neighbour 2 i + 1 (GPT-J).
enum class RotaryPairs { halves, neighbours };

/// How frequencies are changed for sequences longer than those trained on: divided by the factor
/// (Chen et al. 2023); the low ones alone, by their wave lengths, as Llama 3 does; or those of few
/// turns, with larger cosines and sines (YaRN, Peng et al. 2023).
enum class RotaryScale { none, linear, llama3, yarn };

/// Fields of `rope_scaling` (`rope_parameters`) in a checkpoint's `config.json`, by their names.
struct RotaryScaling {
    RotaryScale rope_type = RotaryScale::none;
    double factor = 1;
    double original_max_position_embeddings = 8192;  // llama3, yarn
    double low_freq_factor = 1, high_freq_factor = 4;  // llama3
    double beta_fast = 32, beta_slow = 1;  // yarn
    double attention_factor = 0;  // yarn: of cosines and sines; 0: 0.1 ln(factor) + 1
};

struct RotaryOptions {
    double theta = 10000;
    RotaryPairs pairs = RotaryPairs::halves;
    Dim width = 0;  // the first features, which are turned, an even number; 0: all
    Dim offset = 0;  // the first of the positions that are counted
    RotaryScaling scaling = {};
};

/// Cosines and sines [..., len, width / 2] for `rotary`: made once for queries and keys of all
/// layers, so that a compiler has less to check.
struct RotaryTable {
    Tensor cosines, sines;
    RotaryPairs paired = RotaryPairs::halves;  // no name of RotaryOptions: calls tell them apart
};

namespace detail {

/// log2 of each frequency over its position's, of column i: slope · i + shift(i). Exponents are in
/// two parts, multiples of 2^-16, which floats hold, and the rest.
struct RotaryExponents {
    const RotaryOptions& options;
    double width;
    double slope = -2 * log2_of(options.theta) / width;

    static constexpr double log2_of(double x) { return math::log(x) / 0.69314718055994530942; }
    static constexpr double high(double x) {
        const double scaled = x * 65536;
        return double(std::int64_t(scaled < 0 ? scaled - 0.5 : scaled + 0.5)) / 65536;
    }
    static constexpr double floor(double x) {
        const auto whole = double(std::int64_t(x));
        return whole > x ? whole - 1 : whole;
    }

    /// The columns before `first` keep their frequencies, those from `last` on are divided by the
    /// factor, and each between them is something between.
    struct Columns {
        int first = 0, last = 0;
        double from = 0, to = 1;  // yarn: the ramp
    };
    constexpr Columns columns() const {
        const RotaryScaling& s = options.scaling;
        const int half = int(width) / 2;
        Columns found;
        if (s.rope_type == RotaryScale::none) found.first = found.last = half;
        if (s.rope_type == RotaryScale::llama3) {
            // wave length 2π / frequency against original / factor
            const double turn = log2_of(6.283185307179586477 / s.original_max_position_embeddings);
            const double above = turn + log2_of(s.high_freq_factor);
            const double below = turn + log2_of(s.low_freq_factor);
            while (found.first < half && slope * found.first > above) ++found.first;
            found.last = found.first;
            while (found.last < half && slope * found.last >= below) ++found.last;
        }
        if (s.rope_type == RotaryScale::yarn) {
            found.from = floor(column_of(s.beta_fast)), found.to = -floor(-column_of(s.beta_slow));
            if (found.from < 0) found.from = 0;
            if (found.to > width - 1) found.to = width - 1;
            if (found.from == found.to) found.to += 0.001;
            while (found.first < half && found.first <= found.from) ++found.first;
            found.last = found.first;
            while (found.last < half && found.last < found.to) ++found.last;
        }
        return found;
    }
    /// The column, a fraction, that turns so often within the original length.
    constexpr double column_of(double turns) const {
        const double length = options.scaling.original_max_position_embeddings;
        return log2_of(length / (turns * 6.283185307179586477)) / -slope;
    }
    constexpr double shift(int column, const Columns& columns) const {
        const RotaryScaling& s = options.scaling;
        if (column < columns.first) return 0;
        const double least = 1 / s.factor;
        if (column >= columns.last) return log2_of(least);
        double kept = 0;
        if (s.rope_type == RotaryScale::yarn) {
            kept = 1 - (column - columns.from) / (columns.to - columns.from);
        } else {
            const double turns = s.original_max_position_embeddings *
                                 math::exp(slope * column * 0.69314718055994530942) /
                                 6.283185307179586477;
            kept = (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
        }
        return log2_of(least + kept * (1 - least));
    }
    /// What cosines and sines are multiplied by.
    constexpr double size() const {
        const RotaryScaling& s = options.scaling;
        if (s.rope_type != RotaryScale::yarn) return 1;
        if (s.attention_factor != 0) return s.attention_factor;
        return s.factor > 1 ? 0.1 * math::log(s.factor) + 1 : 1;
    }
};

/// Part `high` of the exponents, or the rest, of columns 0 to width / 2 - 1.
constexpr Tensor rotary_exponents(Tensor column, const RotaryExponents& exponents, bool high,
                                  Location location) {
    const auto part = [&](double x) {
        const double large = RotaryExponents::high(x);
        return high ? large : x - large;
    };
    const At at{location};
    Tensor along = at(column) * part(exponents.slope);
    const RotaryExponents::Columns columns = exponents.columns();
    const int half = int(exponents.width) / 2;
    if (columns.first == half) return along;
    if (columns.last == columns.first && columns.first == 0)
        return at(along) + part(exponents.shift(0, columns));
    Tensor shift = full(*column.graph, {}, part(exponents.shift(half, columns)), f32, location);
    for (int i = columns.last; i > columns.first; --i) {
        Tensor is_before = at(column) < double(i);
        shift = where(is_before, at(part(exponents.shift(i - 1, columns))), shift);
    }
    if (columns.first > 0) {
        Tensor is_before = at(column) < double(columns.first);
        shift = where(is_before, at(0.0), shift);
    }
    return at(along) + shift;
}

/// Whether the options are such, of heads of `width` features; says why not.
constexpr bool can_turn(Graph& graph, const Dim& width, const RotaryOptions& o, Location location) {
    const RotaryScaling& s = o.scaling;
    Text why;
    const bool scales = s.rope_type != RotaryScale::none;
    const bool by_length = s.rope_type == RotaryScale::llama3 || s.rope_type == RotaryScale::yarn;
    if (width.mistake() != DimMistake::none) width.write_mistake(why);
    else if (!width.is_static())
        why << "the number of features that are turned is not static: " << width;
    else if (width.value() < 0 || width.value() % 2 != 0)
        why << "features are turned in pairs: " << width << " is odd";
    else if (!(o.theta > 1)) why << "theta must be above 1";
    else if (scales && !(s.factor > 0)) why << "the factor must be above 0";
    else if (by_length && !(s.original_max_position_embeddings > 0))
        why << "original_max_position_embeddings must be above 0";
    else if (s.rope_type == RotaryScale::llama3 &&
             !(s.low_freq_factor > 0 && s.high_freq_factor > s.low_freq_factor))
        why << "high_freq_factor must be above low_freq_factor, and both above 0";
    else if (s.rope_type == RotaryScale::yarn && !(s.beta_slow > 0 && s.beta_fast >= s.beta_slow))
        why << "beta_fast must not be below beta_slow, and both above 0";
    if (!why.size()) return true;
    Text text;
    text << "rotary: " << why.view();
    graph.fail(location, 0, text);
    return false;
}

/// Of positions [..., len, 1] in floats.
constexpr RotaryTable table_of_positions(Tensor positions, const Dim& width, const RotaryOptions& o,
                                         Location location) {
    Graph& graph = *positions.graph;
    const At at{location};
    const RotaryExponents exponents{o, double(width.value())};
    Tensor column = cast(iota(graph, {width.without_label() / 2}, 0, location), f32, location);
    Tensor high = rotary_exponents(column, exponents, true, location);
    Tensor low = rotary_exponents(column, exponents, false, location);
    RotaryTable table{{}, {}, o.pairs};
    table.cosines = ternary(Elementwise::cos_scaled, positions, high, low, location);
    table.sines = ternary(Elementwise::sin_scaled, positions, high, low, location);
    if (const double size = exponents.size(); size != 1) {
        table.cosines = at(table.cosines) * size;
        table.sines = at(table.sines) * size;
    }
    return table;
}

/// A table's factor beside x: its last two axes are the last but one of x and pairs, the others
/// the first of x.
constexpr Tensor beside(Tensor factor, Tensor x, Location location) {
    if (factor.is_poison()) return factor;
    const int rank = factor.rank(), of_x = x.rank();
    if (rank < 3 || rank == of_x) return factor;
    RearrangeAxes axes = keep_axes(factor.shape());
    for (int i = 0; i < of_x; ++i) {
        const bool is_there = i < rank - 2 || i >= of_x - 2;
        axes.output_group[std::size_t(i)] = is_there ? 1 : 0;
    }
    return rearrange(factor, axes, location);
}

}  // namespace detail

/// Cosines and sines of positions offset, offset + 1, ..., for heads of `width` features, or for
/// `options.width` of them.
template <class = void>
constexpr RotaryTable rotary_table(Graph& graph, const Dim& len, const Dim& width,
                                   const RotaryOptions& options = {},
                                   Location location = Location::here()) {
    const Dim turned = options.width == Dim(0) ? width : options.width;
    if (!detail::can_turn(graph, turned, options, location))
        return {{&graph, 0}, {&graph, 0}, options.pairs};
    const detail::At at{location};
    Tensor t = cast(iota(graph, {len, 1}, 0, location), f32, location);
    if (!(options.offset == Dim(0))) t = at(t) + at(options.offset);
    return detail::table_of_positions(t, turned, options, location);
}
/// The same of positions that are given, i32 [len] or [batch, len].
template <class = void>
constexpr RotaryTable rotary_table(Tensor positions, const Dim& width,
                                   const RotaryOptions& options = {},
                                   Location location = Location::here()) {
    const RotaryTable none{poison_of({positions}), poison_of({positions}), options.pairs};
    if (!is_usable("rotary", location, {positions})) return none;
    Graph& graph = *positions.graph;
    if (positions.dtype() != i32 || positions.rank() < 1 || positions.rank() > 2) {
        Text text;
        text << "rotary: expected i32 positions [len] or [batch, len], got "
             << name_of(positions.dtype()) << " " << positions.shape();
        Tensor wrong = detail::movement_mistake(positions, text, location);
        return {wrong, wrong, options.pairs};
    }
    if (!(options.offset == Dim(0))) {
        Text text;
        text << "rotary: positions are given, and an offset of " << options.offset
             << " too: add it to them";
        Tensor wrong = detail::movement_mistake(positions, text, location);
        return {wrong, wrong, options.pairs};
    }
    const Dim turned = options.width == Dim(0) ? width : options.width;
    if (!detail::can_turn(graph, turned, options, location)) return none;
    Tensor t = cast(unsqueeze(positions, -1, location), f32, location);
    return detail::table_of_positions(t, turned, options, location);
}

/// x [batch, (heads,) len, width] turned by a table of [len, n] or [batch, len, n]: its first 2 n
/// features; those behind stay.
template <class = void>
constexpr Tensor rotary(Tensor x, const RotaryTable& table, Location location = Location::here()) {
    if (!is_usable("rotary", location, {x, table.cosines, table.sines}))
        return poison_of({x, table.cosines, table.sines});
    const Shape &of_table = table.cosines.shape(), &of_x = x.shape();
    const int rank = of_table.rank();
    bool ok = is_float(x.dtype()) && x.rank() >= 2 && x.rank() <= 5 && rank <= x.rank() &&
              of_table[-1].is_static() && of_x[-1].is_static() &&
              of_x[-1].value() >= 2 * of_table[-1].value() && fits(of_x[-2], of_table[-2]);
    for (int i = 0; ok && i < rank - 2; ++i) ok = fits(of_x[i], of_table[i]);
    if (!ok) {
        Text text;
        text << "rotary: " << name_of(x.dtype()) << " " << of_x;
        x.graph->write_origin(text, x.id);
        text << " cannot be turned by angles " << of_table
             << ": expected f32, bf16 or f16 [batch, (heads,) len, width], a static width of two "
                "features or more for each angle, and positions [len] or [batch, len]";
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    if (x.dtype() != f32)
        return cast(rotary(cast(x, f32, location), table, location), x.dtype(), location);
    const Dim half = of_table[-1].without_label(), width = half * Dim(2),
              rest = of_x[-1].without_label() - width;
    if (width == Dim(0)) return x;
    const detail::At at{location};
    Tensor cosine = detail::beside(table.cosines, x, location);
    Tensor sine = detail::beside(table.sines, x, location);
    const bool halves = table.paired == RotaryPairs::halves;
    Tensor turned = rest == Dim(0) ? x : slice(x, -1, 0, width, location);
    if (!halves) {  // [..., width / 2, 2]
        Shape pairs = turned.shape();
        pairs[pairs.rank() - 1] = half;
        pairs.push(2);
        RearrangeAxes axes = detail::keep_axes(pairs);
        axes.input_group.values[x.rank() - 1] = 2;
        axes.input_group.values[x.rank()] = -1;
        turned = rearrange(turned, axes, location);
        cosine = unsqueeze(cosine, -1, location);
        sine = unsqueeze(sine, -1, location);
    }
    const Dim part = halves ? half : Dim(1);
    Tensor a = slice(turned, -1, 0, part, location), b = slice(turned, -1, part, part, location);
    Tensor ac = at(a) * cosine, bs = at(b) * sine, bc = at(b) * cosine, as = at(a) * sine;
    Tensor first = at(ac) - bs, second = at(bc) + as;
    Tensor y = concat({first, second}, -1, location);
    if (!halves) {
        RearrangeAxes axes = detail::keep_axes(y.shape());
        axes.output_group.values[x.rank() - 1] = 2;
        axes.output_group.values[x.rank()] = -1;
        y = rearrange(y, axes, location);
    }
    if (rest == Dim(0)) return y;
    Tensor kept = slice(x, -1, width, rest, location);
    return concat({y, kept}, -1, location);
}

/// The same at positions offset, offset + 1, ... along the last axis but one.
template <class = void>
constexpr Tensor rotary(Tensor x, const RotaryOptions& options = {},
                        Location location = Location::here()) {
    if (!is_usable("rotary", location, {x})) return poison_of({x});
    if (x.rank() < 2) {
        Text text;
        text << "rotary: expected f32, bf16 or f16 [batch, (heads,) len, width], got "
             << name_of(x.dtype()) << " " << x.shape();
        return detail::movement_mistake(x, text, location);
    }
    const RotaryTable table = rotary_table(*x.graph, x.dim(-2), x.dim(-1), options, location);
    return rotary(x, table, location);
}
/// The same at positions that are given, i32 [len] or [batch, len].
template <class = void>
constexpr Tensor rotary(Tensor x, Tensor positions, const RotaryOptions& options = {},
                        Location location = Location::here()) {
    if (!is_usable("rotary", location, {x, positions})) return poison_of({x, positions});
    if (x.rank() < 2) return rotary(x, options, location);
    return rotary(x, rotary_table(positions, x.dim(-1), options, location), location);
}

}  // namespace fovea
