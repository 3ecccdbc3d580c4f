// Top-down: who reads a value says which axes of the kernel its own axes are.
#include "codegen/lower/pair_tiles.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::lower {

using kernel::AxisId;
using kernel::Id;

namespace {

bool is_product(Elementwise function) {
    return function == Elementwise::mul || function == Elementwise::div ||
           function == Elementwise::neg;
}

}  // namespace

PairTiles::PairTiles(const Graph& function, kernel::Builder& builder, LeafTile leaf,
                     TileAxes widths)
    : function_(function), builder_(builder), leaf_(std::move(leaf)), widths_(std::move(widths)) {}

int PairTiles::output_value(const Port& port) const {
    const int id = find_output(function_, port);
    if (id) return function_[id].inputs[0];
    throw InternalError("lower: a score function has no output " + std::string(name_of(port)));
}

Id PairTiles::output(const Port& port, const TileAxes& axes, double number, Id factor) {
    Product scale{.number = number, .factors = {}, .over = {}};
    if (factor >= 0) scale.factors.push_back({-1, {}, factor});
    return scaled_sum(output_value(port), axes, scale);
}

Id PairTiles::sum_of_output(const Port& port, const TileAxes& axes, const TileAxes& over) {
    int node = output_value(port);
    const Node& table = function_[node];
    if (table.op == Op::scatter_add && function_[table.inputs[1]].port.role == Role::head)
        node = table.inputs[0];  // one row of it is this head's
    return scaled_sum(node, axes, {.number = 1, .factors = {}, .over = over});
}

/// The axes of an operand whose axes are aligned with `axes` on the right.
TileAxes PairTiles::operand_axes(int operand, const TileAxes& axes) const {
    const Shape& shape = function_[operand].shape;
    TileAxes own;
    for (int i = 0; i < shape.rank(); ++i)
        own.push_back(shape[i].is_one() ? -1 : axes[axes.size() - std::size_t(shape.rank() - i)]);
    return own;
}

/// Sums are taken apart, so that each product in them is scaled, and added up, by itself.
Id PairTiles::scaled_sum(int node, const TileAxes& axes, Product scale) {
    const Node& what = function_[node];
    bool plain = what.op == Op::broadcast || what.op == Op::stop_gradient;
    if (plain) return scaled_sum(what.inputs[0], operand_axes(what.inputs[0], axes), scale);
    bool adds = what.op == Op::elementwise &&
                (what.function == Elementwise::add || what.function == Elementwise::sub);
    bool scaled = scale.number != 1 || !scale.factors.empty() || !scale.over.empty();
    if (adds && scaled) {
        Id first = scaled_sum(what.inputs[0], operand_axes(what.inputs[0], axes), scale);
        if (what.function == Elementwise::sub) scale.number = -scale.number;
        Id second = scaled_sum(what.inputs[1], operand_axes(what.inputs[1], axes), scale);
        return builder_.add(first, second);
    }
    take_apart(node, axes, scale);
    return sum(scale);
}

void PairTiles::take_apart(int node, const TileAxes& axes, Product& product) {
    const Node& what = function_[node];
    auto operand = [&](int i) {
        int input = what.inputs[std::size_t(i)];
        take_apart(input, operand_axes(input, axes), product);
    };
    if (what.op == Op::constant) {
        product.number *= what.value;
        return;
    }
    if (what.op == Op::broadcast || what.op == Op::stop_gradient) return operand(0);
    if (what.op == Op::elementwise && what.function == Elementwise::mul) {
        operand(0);
        return operand(1);
    }
    if (what.op == Op::elementwise && what.function == Elementwise::neg) {
        product.number = -product.number;
        return operand(0);
    }
    if (what.op == Op::elementwise && what.function == Elementwise::div &&
        function_[what.inputs[1]].op == Op::constant) {
        product.number /= function_[what.inputs[1]].value;
        return operand(0);
    }
    const bool adds_row = what.op == Op::scatter_add && what.shape.rank() > 1;
    if (adds_row && !product.over.empty()) {
        product.factors.push_back({-1, {}, is_row(what, axes[0], true)});
        return take_apart(what.inputs[0], TileAxes(axes.begin() + 1, axes.end()), product);
    }
    bool vectors = what.shape.rank() > 0 && !product.over.empty();
    if (vectors && what.op == Op::einsum) return take_apart_einsum(what, axes, product);
    product.factors.push_back({node, axes, -1});
}

/// The einsum's operands become factors, its summed axes sums of the product.
void PairTiles::take_apart_einsum(const Node& node, const TileAxes& axes, Product& product) {
    const EinsumAxes& labels = function_.einsums[std::size_t(node.attribute)];
    std::map<int, AxisId> of;
    TileAxes used = axes;
    used.insert(used.end(), product.over.begin(), product.over.end());
    for (int i = 0; i < labels.out.count; ++i)
        of[labels.out.label[std::size_t(i)]] = axes[std::size_t(i)];
    for (bool second : {false, true}) {
        const EinsumAxes::List& list = second ? labels.b : labels.a;
        int input = node.inputs[second ? 1 : 0];
        TileAxes own;
        for (int i = 0; i < list.count; ++i) {
            int label = list.label[std::size_t(i)];
            const Dim& dim = function_[input].shape[i];
            if (!of.contains(label)) {
                of[label] = dim.is_one() ? -1 : free_axis(dim, used);
                if (of[label] >= 0) product.over.push_back(of[label]), used.push_back(of[label]);
            }
            own.push_back(of[label]);
        }
        take_apart(input, own, product);
    }
}

Id PairTiles::tile_of(const Factor& factor) {
    return factor.node >= 0 ? value(factor.node, factor.axes) : factor.tile;
}

bool PairTiles::has_axis(Id tile, AxisId axis) const {
    const std::vector<AxisId>& own = builder_.kernel().nodes[std::size_t(tile)].axes;
    return std::find(own.begin(), own.end(), axis) != own.end();
}

Id PairTiles::multiply(const std::vector<Id>& tiles) {
    if (tiles.empty()) return builder_.constant(1);
    Id product = tiles[0];
    for (std::size_t i = 1; i < tiles.size(); ++i)
        product = once({product, tiles[i]}, [&] { return builder_.mul(product, tiles[i]); });
    return product;
}

std::vector<AxisId> PairTiles::axes_of(Id tile) const {
    return builder_.kernel().nodes[std::size_t(tile)].axes;
}

/// The sum of a product, over one axis after the other: first the one whose factors have the fewest
/// axes among them. Numbers go with the first of them.
Id PairTiles::sum(const Product& product) {
    std::vector<Id> tiles, scalars;
    for (const Factor& factor : product.factors) {
        Id tile = tile_of(factor);
        (axes_of(tile).empty() ? scalars : tiles).push_back(tile);
    }
    TileAxes over = product.over;
    if (product.number != 1) scalars.push_back(builder_.constant(product.number));
    while (!over.empty()) {
        auto next = std::min_element(over.begin(), over.end(), [&](AxisId x, AxisId y) {
            return axes_beside(tiles, x).size() < axes_beside(tiles, y).size();
        });
        AxisId axis = *next;
        over.erase(next);
        std::vector<Id> inside, rest;
        for (Id tile : tiles) (has_axis(tile, axis) ? inside : rest).push_back(tile);
        if (inside.empty() && product.number == 0) continue;
        if (inside.empty()) throw InternalError("lower: a sum over what no factor moves along");
        rest.push_back(sum_along(axis, inside, scalars));
        scalars.clear();
        tiles = rest;
    }
    tiles.insert(tiles.end(), scalars.begin(), scalars.end());
    return multiply(tiles);
}

/// The axes of the tiles that have `axis`.
TileAxes PairTiles::axes_beside(const std::vector<Id>& tiles, AxisId axis) const {
    TileAxes all;
    for (Id tile : tiles) {
        if (!has_axis(tile, axis)) continue;
        for (AxisId other : axes_of(tile))
            if (std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
    }
    return all;
}

/// A contraction where the factors fall into two sides that share no other axis.
Id PairTiles::sum_along(AxisId axis, const std::vector<Id>& tiles, const std::vector<Id>& scalars) {
    auto shares = [&](Id x, Id y) {
        for (AxisId other : axes_of(x))
            if (other != axis && has_axis(y, other)) return true;
        return false;
    };
    // The first side grows by what it shares an axis with; vectors along `axis` alone go with it.
    auto first =
        std::find_if(tiles.begin(), tiles.end(), [&](Id tile) { return axes_of(tile).size() > 1; });
    if (first == tiles.end()) first = tiles.begin();
    std::vector<Id> a{*first}, b;
    for (auto it = tiles.begin(); it != tiles.end(); ++it)
        if (it != first) b.push_back(*it);
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t i = 0; i < b.size() && !grown; ++i) {
            bool joins = axes_of(b[i]).size() == 1 ||
                         std::any_of(a.begin(), a.end(), [&](Id x) { return shares(x, b[i]); });
            if (!joins) continue;
            a.push_back(b[i]);
            b.erase(b.begin() + std::ptrdiff_t(i));
            grown = true;
        }
    }
    a.insert(a.end(), scalars.begin(), scalars.end());
    Id left = multiply(a);
    if (b.empty()) return once({left, -1, axis}, [&] { return builder_.sum(left, {axis}); });
    Id right = multiply(b);
    return once({left, right, axis}, [&] { return builder_.contract(left, right, {axis}); });
}

Id PairTiles::value(int node, const TileAxes& axes) {
    auto [at, fresh] = values_.try_emplace({node, axes}, -1);
    if (!fresh) return at->second;
    Id tile = compute(node, axes);
    return values_[{node, axes}] = tile;
}

AxisId PairTiles::free_axis(const Dim& dim, const TileAxes& used) {
    for (AxisId axis : widths_)
        if (builder_.kernel().axes[std::size_t(axis)].extent == dim.without_label() &&
            std::find(used.begin(), used.end(), axis) == used.end())
            return axis;
    widths_.push_back(builder_.axis("w" + std::to_string(widths_.size()), dim));
    return widths_.back();
}

Id PairTiles::compute(int node, const TileAxes& axes) {
    const Node& what = function_[node];
    switch (what.op) {
        case Op::input: return leaf_(what, axes);
        case Op::constant: return builder_.constant(what.value, what.dtype);
        case Op::extent: return builder_.extent(what.dim, what.dtype);
        case Op::broadcast:
        case Op::stop_gradient: return value(what.inputs[0], operand_axes(what.inputs[0], axes));
        case Op::gather: return gather(what, axes);
        case Op::scatter_add: return scatter(what, axes);
        case Op::rearrange: {  // of at most one axis longer than 1
            AxisId along = -1;
            for (AxisId axis : axes) along = axis != -1 ? axis : along;
            TileAxes own;
            for (const Dim& dim : function_[what.inputs[0]].shape)
                own.push_back(dim.is_one() ? -1 : along);
            return value(what.inputs[0], own);
        }
        case Op::reduce: {
            const Shape& shape = function_[what.inputs[0]].shape;
            TileAxes own = axes, over;
            for (int i = 0; i < shape.rank(); ++i) {
                if (!(what.axis >> i & 1) || shape[i].is_one()) continue;
                own[std::size_t(i)] = free_axis(shape[i], own);
                over.push_back(own[std::size_t(i)]);
            }
            return scaled_sum(what.inputs[0], own, {.number = 1, .factors = {}, .over = over});
        }
        case Op::einsum: {
            Product product;
            take_apart_einsum(what, axes, product);
            return sum(product);
        }
        case Op::elementwise: break;
        default:
            throw InternalError("lower: no tile of pairs for op " +
                                std::string(row_of(what.op).name));
    }
    // Whole numbers are computed as they stand: constants of products are floats.
    const bool product = is_float(what.dtype) && is_product(what.function);
    if (product) {
        Product parts;
        take_apart(node, axes, parts);
        if (parts.factors.size() != 1 || parts.factors[0].node != node) return sum(parts);
    }
    std::vector<Id> operands;
    for (int i = 0; i < row_of(what.function).arity; ++i) {
        int input = what.inputs[std::size_t(i)];
        operands.push_back(value(input, operand_axes(input, axes)));
    }
    if (what.function == Elementwise::identity) {
        if (what.dtype == function_[what.inputs[0]].dtype) return operands[0];
        return builder_.cast(operands[0], what.dtype);
    }
    return builder_.map(what.function, operands, function_[what.inputs[0]].dtype);
}

/// A number of the pair that a table is looked up by.
Id PairTiles::index_of(int id) { return value(id, {}); }

/// A row of a captured table: where the index is a position along an axis, the table lies along
/// that; else it is picked.
Id PairTiles::gather(const Node& node, const TileAxes& axes) {
    const Node& row = function_[node.inputs[1]];
    TileAxes own = axes;
    if (row.op == Op::input && row.port.role == Role::head) {
        own.insert(own.begin(), kHeads);
        return value(node.inputs[0], own);
    }
    const Id id = index_of(node.inputs[1]);
    const bool is_index = row.op == Op::input && row.port.role != Role::capture;
    if (is_index) {
        auto index = kernel::as<kernel::Index>(builder_.kernel(), id);
        own.insert(own.begin(), index ? index->axis : -1);  // -1: the only sequence there is
        return value(node.inputs[0], own);
    }
    // Positions of a tile beyond the sizes have ids that nobody promised.
    const Id first = builder_.constant(0, i32);
    const Id last = builder_.extent(node.dim + Dim(-1), i32);
    const Id above = builder_.map(Elementwise::maximum, {id, first});
    own.insert(own.begin(), picked_row(builder_.map(Elementwise::minimum, {above, last})));
    return value(node.inputs[0], own);
}

/// Whether the rows along `axis` are that of the pair's index, as a condition or as 1 and 0. Rows
/// are compared as floats, which are kept where they are read for each row.
Id PairTiles::is_row(const Node& scatter, AxisId axis, bool as_number) {
    const Id row = axis < 0 ? builder_.constant(0) : builder_.cast(builder_.index(axis), f32);
    const Id picked = once({-2, scatter.inputs[1]}, [&] {
        return builder_.named(builder_.cast(index_of(scatter.inputs[1]), f32), "picked_row");
    });
    return once({-3, picked, row, as_number}, [&] {
        const Id is_it = builder_.map(Elementwise::eq, {picked, row});
        if (!as_number) return is_it;
        return builder_.where(is_it, builder_.constant(1), builder_.constant(0));
    });
}

/// A table of zeros for each pair but for the row of the pair's index.
Id PairTiles::scatter(const Node& node, const TileAxes& axes) {
    const Id is_it = is_row(node, axes[0], false);
    const Id own = value(node.inputs[0], TileAxes(axes.begin() + 1, axes.end()));
    return builder_.where(is_it, own, builder_.constant(0));
}

}  // namespace fovea::lower
