// Writes kernels so that they read like the mathematics: axes and types are inferred.
//
//     Builder b("softmax");
//     AxisId r = b.axis("r", rows), k = b.axis("k", keys);
//     int x = b.input("x", {rows, keys}), y = b.output("y", {rows, keys});
//     b.each(r, [&] {
//         Id s = b.load(b.at(x, {r, k}));
//         Id e = b.map(Elementwise::exp, {b.sub(s, b.max(s, {k}))});
//         b.store(b.at(y, {r, k}), b.div(e, b.sum(e, {k})));
//     });
//     Kernel softmax = b.finish();
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

class Builder {
  public:
    explicit Builder(std::string name, std::string formula = {},
                     std::vector<std::string> sources = {});

    AxisId axis(std::string name, const Dim& extent);
    int buffer(std::string name, DType dtype, std::vector<Dim> shape, bool written,
               WeightStorage storage = {});
    int input(std::string name, std::vector<Dim> shape, DType dtype = DType::f32);
    int output(std::string name, std::vector<Dim> shape, DType dtype = DType::f32);

    /// The row-major access of a buffer with one axis per dimension; -1 stands for position 0.
    Access at(int buffer, const std::vector<AxisId>& axes) const;
    /// The same with the rows (dimension 0) picked by the i32 tile `row`; `axes` are the others.
    Access at_row(int buffer, Id row, const std::vector<AxisId>& axes) const;

    Id constant(double value, DType dtype = DType::f32);
    /// The same number at every position of `axes`: what a carried value starts with.
    Id fill(double value, std::vector<AxisId> axes, DType dtype = DType::f32);
    Id extent(const Dim& dim, DType dtype = DType::f32);
    Id index(AxisId axis);
    Id load(Access access);
    Id map(Elementwise function, std::vector<Id> operands);
    /// The same of operands that are `type` for the model: halves are rounded before they are
    /// compared, so that a value is like itself wherever it comes from.
    Id map(Elementwise function, std::vector<Id> operands, DType type);
    /// A value as f32, or as i32: the whole part of a number, 0 and 1 of a boolean.
    Id cast(Id x, DType type);
    Id random(int site, double probability, std::vector<Stride> row, std::vector<Stride> column);
    Id reduce(Reduction reduction, Id operand, std::vector<AxisId> axes);
    Id contract(Id a, Id b, std::vector<AxisId> axes, Factors factors = Factors::f32);
    /// The same for each block of the positions along `axes`.
    Id contract_by_block(Id a, Id b, std::vector<AxisId> axes, AxisId blocks);
    Id store(Access access, Id value);
    Id accumulate(Access access, Id value);

    Id add(Id x, Id y) { return map(Elementwise::add, {x, y}); }
    Id sub(Id x, Id y) { return map(Elementwise::sub, {x, y}); }
    Id mul(Id x, Id y) { return map(Elementwise::mul, {x, y}); }
    Id div(Id x, Id y) { return map(Elementwise::div, {x, y}); }
    Id lt(Id x, Id y) { return map(Elementwise::lt, {x, y}); }
    Id le(Id x, Id y) { return map(Elementwise::le, {x, y}); }
    Id where(Id condition, Id x, Id y) { return map(Elementwise::where, {condition, x, y}); }
    /// A sum over each block of the positions along `axes`.
    Id sum_by_block(Id operand, std::vector<AxisId> axes, AxisId blocks);
    Id sum(Id operand, std::vector<AxisId> axes) {
        return reduce(Reduction::sum, operand, std::move(axes));
    }
    Id max(Id operand, std::vector<AxisId> axes) {
        return reduce(Reduction::max, operand, std::move(axes));
    }

    /// Loops: `body()` makes the nodes inside.
    template <class Body>
    Id each(AxisId axis, Body&& body) {
        return loop(LoopKind::each, axis, body);
    }
    template <class Body>
    Id par(AxisId axis, Body&& body) {
        return loop(LoopKind::par, axis, body);
    }
    template <class Body>
    Id seq(AxisId axis, Body&& body) {
        return loop(LoopKind::seq, axis, body);
    }
    /// Tiles of `axis` in order, from `lower` to below `upper` (-1: its ends). `body(carried)` is
    /// given the carried values, a vector of tiles, and returns their next values; the result is
    /// their values after the last tile.
    struct Bounds {
        Id lower = -1, upper = -1;
    };
    template <class Body>
    std::vector<Id> tiles(AxisId axis, Bounds bounds, const std::vector<Id>& initial, Body&& body) {
        open_tiles(axis, bounds, initial);
        return close_tiles(body(carried()));
    }
    /// Whether a position along `axis` lies within the bounds of the tiles loop around.
    Id valid(AxisId axis);
    /// Loops of one kind around each other, the first axis outermost; none is just `body()`.
    template <class Body>
    void each(const std::vector<AxisId>& axes, Body&& body) {
        nest(LoopKind::each, axes, 0, body);
    }
    template <class Body>
    void par(const std::vector<AxisId>& axes, Body&& body) {
        nest(LoopKind::par, axes, 0, body);
    }

    /// Names a value; returns it.
    Id named(Id value, std::string name);
    const Kernel& kernel() const { return kernel_; }
    /// The finished kernel, verified.
    Kernel finish();

  private:
    template <class Body>
    Id loop(LoopKind kind, AxisId axis, Body&& body) {
        open(kind, axis);
        body();
        return close();
    }
    template <class Body>
    void nest(LoopKind kind, const std::vector<AxisId>& axes, std::size_t first, Body&& body) {
        if (first == axes.size()) return body();
        loop(kind, axes[first], [&] { nest(kind, axes, first + 1, body); });
    }
    void open(LoopKind kind, AxisId axis);
    Id close();
    void open_tiles(AxisId axis, Bounds bounds, const std::vector<Id>& initial);
    std::vector<Id> carried() const;
    std::vector<Id> close_tiles(const std::vector<Id>& next);
    Id make(Operation operation, DType dtype);
    Id make(Operation operation);

    struct OpenLoop {
        LoopKind kind;
        AxisId axis;
        std::vector<Id> body;
        Bounds bounds = {};
        std::vector<Carry> carries = {};
    };
    Kernel kernel_;
    std::vector<OpenLoop> open_;
};

}  // namespace fovea::kernel
