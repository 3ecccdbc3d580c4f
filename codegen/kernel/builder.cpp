// Makes nodes with inferred types and puts them into the innermost open loop.
#include "codegen/kernel/builder.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/infer_types.h"
#include "codegen/kernel/verify_kernel.h"

namespace fovea::kernel {

Builder::Builder(std::string name, std::string formula, std::vector<std::string> sources) {
    kernel_.name = std::move(name);
    kernel_.formula = std::move(formula);
    kernel_.sources = std::move(sources);
}

AxisId Builder::axis(std::string name, const Dim& extent) {
    kernel_.axes.push_back({std::move(name), extent.without_label()});
    return AxisId(kernel_.axes.size()) - 1;
}

int Builder::buffer(std::string name, DType dtype, std::vector<Dim> shape, bool written,
                    WeightStorage storage) {
    for (Dim& dim : shape) dim = dim.without_label();
    kernel_.buffers.push_back({.name = std::move(name),
                               .dtype = dtype,
                               .shape = std::move(shape),
                               .written = written,
                               .storage = storage});
    return int(kernel_.buffers.size()) - 1;
}

int Builder::input(std::string name, std::vector<Dim> shape, DType dtype) {
    return buffer(std::move(name), dtype, std::move(shape), false);
}

int Builder::output(std::string name, std::vector<Dim> shape, DType dtype) {
    return buffer(std::move(name), dtype, std::move(shape), true);
}

namespace {

/// The strides of `axes` along the dimensions of `shape` from `first` on.
std::vector<Stride> row_major(const std::vector<Dim>& shape, std::size_t first,
                              const std::vector<AxisId>& axes) {
    if (axes.size() + first != shape.size())
        throw InternalError("an access names " + std::to_string(axes.size()) + " axes for " +
                            std::to_string(shape.size() - first) + " dimensions");
    std::vector<Stride> strides;
    Dim stride = 1;
    for (std::size_t i = axes.size(); i-- > 0; stride = stride * shape[i + first])
        if (axes[i] >= 0) strides.push_back({axes[i], stride});
    std::reverse(strides.begin(), strides.end());
    return strides;
}

}  // namespace

Access Builder::at(int buffer, const std::vector<AxisId>& axes) const {
    Access access;
    access.buffer = buffer;
    access.strides = row_major(kernel_.buffers.at(std::size_t(buffer)).shape, 0, axes);
    return access;
}

Access Builder::at_row(int buffer, Id row, const std::vector<AxisId>& axes) const {
    const std::vector<Dim>& shape = kernel_.buffers.at(std::size_t(buffer)).shape;
    Access access;
    access.buffer = buffer;
    access.strides = row_major(shape, 1, axes);
    access.row = row;
    access.row_stride = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) access.row_stride = access.row_stride * shape[i];
    return access;
}

Id Builder::constant(double value, DType dtype) { return make(Constant{value}, dtype); }
Id Builder::fill(double value, std::vector<AxisId> axes, DType dtype) {
    return make(Constant{value, std::move(axes)}, dtype);
}

Id Builder::valid(AxisId axis) {
    for (std::size_t i = open_.size(); i-- > 0;)
        if (open_[i].kind == LoopKind::tiles && open_[i].axis == axis)
            return make(Valid{axis, open_[i].bounds.lower, open_[i].bounds.upper});
    throw InternalError(kernel_.name + ": valid outside of a loop over the axis");
}

Id Builder::extent(const Dim& dim, DType dtype) { return make(Extent{dim}, dtype); }
Id Builder::index(AxisId axis) { return make(Index{axis}); }
Id Builder::load(Access access) { return make(Load{std::move(access)}); }

Id Builder::map(Elementwise function, std::vector<Id> operands) {
    return make(Map{function, std::move(operands)});
}

Id Builder::map(Elementwise function, std::vector<Id> operands, DType type) {
    if (is_half(type) && row_of(function).gives_boolean)
        for (Id& operand : operands) {
            if (const auto* number = as<Constant>(kernel_, operand)) {
                operand = fill(format_of(type).nearest(number->value), number->axes);
                continue;
            }
            const auto* load = as<Load>(kernel_, operand);
            const bool is_rounded =
                load && kernel_.buffers[std::size_t(load->access.buffer)].dtype == type;
            if (!is_rounded) operand = cast(operand, type);
        }
    return map(function, std::move(operands));
}
Id Builder::cast(Id x, DType type) { return make(Map{Elementwise::identity, {x}, type}); }

Id Builder::random(int site, double probability, std::vector<Stride> row,
                   std::vector<Stride> column) {
    return make(Random{site, probability, std::move(row), std::move(column)});
}

Id Builder::reduce(Reduction reduction, Id operand, std::vector<AxisId> axes) {
    return make(Reduce{reduction, std::move(axes), operand});
}
Id Builder::sum_by_block(Id operand, std::vector<AxisId> axes, AxisId blocks) {
    return make(Reduce{Reduction::sum, std::move(axes), operand, blocks});
}

Id Builder::contract(Id a, Id b, std::vector<AxisId> axes, Factors factors) {
    return make(Contract{std::move(axes), a, b, factors});
}

Id Builder::contract_by_block(Id a, Id b, std::vector<AxisId> axes, AxisId blocks) {
    return make(Contract{.axes = std::move(axes), .a = a, .b = b, .blocks = blocks});
}

Id Builder::store(Access access, Id value) { return make(Store{std::move(access), value, false}); }

Id Builder::accumulate(Access access, Id value) {
    return make(Store{std::move(access), value, true});
}

Id Builder::named(Id value, std::string name) {
    kernel_.nodes.at(std::size_t(value)).name = std::move(name);
    return value;
}

Kernel Builder::finish() {
    if (!open_.empty()) throw InternalError(kernel_.name + ": a loop is still open");
    kernel_.form = form_of_loops(kernel_);
    verify_kernel(kernel_);
    return kernel_;
}

void Builder::open(LoopKind kind, AxisId axis) { open_.push_back({kind, axis, {}}); }

Id Builder::close() {
    OpenLoop loop = std::move(open_.back());
    open_.pop_back();
    return make(Loop{loop.kind, loop.axis, std::move(loop.body)}, DType::f32);
}

void Builder::open_tiles(AxisId axis, Bounds bounds, const std::vector<Id>& initial) {
    open_.push_back({LoopKind::tiles, axis, {}, bounds, {}});
    for (Id id : initial) {
        const Id argument = make(Carried{id});
        kernel_.nodes[std::size_t(argument)].name = kernel_.nodes[std::size_t(id)].name;
        open_.back().carries.push_back({id, argument, -1});
    }
}

std::vector<Id> Builder::carried() const {
    std::vector<Id> arguments;
    for (const Carry& carry : open_.back().carries) arguments.push_back(carry.argument);
    return arguments;
}

std::vector<Id> Builder::close_tiles(const std::vector<Id>& next) {
    OpenLoop loop = std::move(open_.back());
    if (next.size() != loop.carries.size())
        throw InternalError(kernel_.name + ": a loop carries " +
                            std::to_string(loop.carries.size()) + " values and is given " +
                            std::to_string(next.size()));
    open_.pop_back();
    for (std::size_t i = 0; i < next.size(); ++i) loop.carries[i].next = next[i];
    const Id id = make(Loop{loop.kind, loop.axis, std::move(loop.body), loop.bounds.lower,
                            loop.bounds.upper, loop.carries},
                       DType::f32);
    std::vector<Id> results;
    for (std::size_t i = 0; i < next.size(); ++i) {
        results.push_back(make(Result{id, int(i)}));
        kernel_.nodes[std::size_t(results.back())].name =
            kernel_.nodes[std::size_t(loop.carries[i].initial)].name;
    }
    return results;
}

Id Builder::make(Operation operation) { return make(std::move(operation), DType::f32); }

Id Builder::make(Operation operation, DType dtype) {
    std::vector<AxisId> points;
    for (const OpenLoop& loop : open_)
        if (leaves_types(loop.kind)) points.push_back(loop.axis);
    Node node;
    node.axes = tile_axes(kernel_, operation, points);
    node.dtype = tile_dtype(kernel_, operation, dtype);
    node.operation = std::move(operation);
    kernel_.nodes.push_back(std::move(node));
    const Id id = Id(kernel_.nodes.size()) - 1;
    (open_.empty() ? kernel_.body : open_.back().body).push_back(id);
    return id;
}

}  // namespace fovea::kernel
