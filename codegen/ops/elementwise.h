// Elementwise ops with NumPy broadcasting: operators, functions, comparisons, where.
#pragma once

#include "codegen/graph/tensor.h"

namespace fovea {

namespace detail {

constexpr Tensor number(Graph& graph, double value, DType type, Location location) {
    return {&graph,
            graph.add({.op = Op::constant, .dtype = type, .location = location, .value = value})};
}

/// The operand as a tensor: numbers and sizes become scalars of type `type`, written at `location`.
constexpr Tensor lifted(Graph& graph, const Operand& operand, DType type, Location location) {
    switch (operand.kind) {
        case Operand::Kind::tensor: return operand.tensor;
        case Operand::Kind::number: return number(graph, operand.number, type, location);
        case Operand::Kind::size:
        case Operand::Kind::root: break;
    }
    Tensor size = make(graph, {.op = Op::extent,
                               .dtype = type,
                               .location = location,
                               .dim = operand.dim.without_label()});
    if (operand.kind == Operand::Kind::size) return size;
    return make(graph, {.op = Op::elementwise,
                        .function = Elementwise::sqrt,
                        .dtype = type,
                        .inputs = inputs_of({size.id}),
                        .location = location});
}

/// Refuses what no value of `type` is: a fraction beside i32, which would drop it, or a truth value
/// that is neither 0 nor 1.
constexpr bool holds(Graph& graph, const char* op, const Operand& operand, DType type,
                     Location location) {
    if (is_float(type)) return true;
    const double value = operand.number;
    Text text;
    if (operand.kind == Operand::Kind::number && type == i32) {
        const bool in_range = value >= -2147483648.0 && value <= 2147483647.0;
        if (in_range && value == double(std::int64_t(value))) return true;
        text << op
             << (in_range ? ": i32 has no fractions: cast the tensor to f32 first"
                          : ": i32 holds numbers from -2147483648 to 2147483647: cast the "
                            "tensor to f32 first");
    } else if (operand.kind == Operand::Kind::number && type == DType::boolean) {
        if (value == 0 || value == 1) return true;
        text << op << ": bool takes 0 and 1, no other number";
    } else if (operand.kind == Operand::Kind::root) {
        text << op << ": " << name_of(type) << " has no square roots: cast the tensor to f32 first";
    } else {
        return true;
    }
    graph.fail(location, 0, text);
    return false;
}

/// A number or a size, in an op at `location`, as a tensor of `type`, in `value`, which holds a
/// tensor already; false where there is no such value.
constexpr bool lift(Graph& graph, const char* op, const Operand& operand, DType type,
                    Location location, Tensor& value) {
    if (operand.is_tensor()) return true;
    if (!holds(graph, op, operand, type, location)) return false;
    value = lifted(graph, operand, type, location);
    return value.id != 0;
}

/// What two shapes broadcast to; writes why not into `why` and returns false when they do not.
/// A named axis of one position is not repeated, unless names do not matter (`named`).
constexpr bool broadcast_shapes(const Shape& a, const Shape& b, Shape& result, Text& why,
                                bool named = true) {
    const int more = a.rank() - b.rank();
    result = more >= 0 ? a : b;  // what the shorter one lacks is of the longer one
    const Dim* of_a = a.begin() + (more > 0 ? more : 0);
    const Dim* of_b = b.begin() + (more < 0 ? -more : 0);
    Dim* both = &result[0] + (more < 0 ? -more : more);
    for (const Dim* end = a.end(); of_a != end; ++of_a, ++of_b, ++both) {
        if (of_a->is_plainly(*of_b)) continue;
        if (of_a->fits(*of_b) || (!named && *of_a == *of_b)) *both = of_a->label() ? *of_a : *of_b;
        else if (of_b->is_one() && !(named && of_b->label())) *both = *of_a;
        else if (of_a->is_one() && !(named && of_a->label())) *both = *of_b;
        else {
            why << *of_a << " is not " << *of_b;
            return false;
        }
    }
    return true;
}

constexpr Tensor mismatch(Graph& graph, Elementwise function, Tensor a, Tensor b, const Text& why,
                          Location location) {
    Text text;
    text << "cannot " << row_of(function).name << " " << a.shape();
    graph.write_origin(text, a.id);
    text << " and " << b.shape();
    graph.write_origin(text, b.id);
    text << ": " << why.view();
    return fail(graph, location, graph.common_scope(graph.scope_of(a.id), graph.scope_of(b.id)),
                text);
}

constexpr Tensor dtype_error(Graph& graph, Elementwise function, Tensor operand, const char* hint,
                             Location location) {
    Text text;
    text << row_of(function).name << " does not take " << name_of(operand.dtype()) << " "
         << operand.shape();
    graph.write_origin(text, operand.id);
    text << ": " << hint;
    return fail(graph, location, graph.scope_of(operand.id), text);
}

/// By what a function takes, and the type of an operand: a table takes a compiler few steps.
inline constexpr auto kTaken = [] {
    FixedArray<FixedArray<bool, kDTypes>, 4> taken{};
    for (Takes takes : {Takes::floats, Takes::numbers, Takes::booleans, Takes::any})
        for (DType type : {f32, bf16, f16, i32, boolean})
            taken[std::size_t(takes)][std::size_t(type)] =
                takes == Takes::any || (takes == Takes::booleans) == (type == boolean);
    taken[std::size_t(Takes::floats)][std::size_t(i32)] = false;
    return taken;
}();
/// Whether a function that takes such operands takes one of this type.
constexpr bool is_taken(Takes takes, DType operand) {
    return kTaken.values[int(takes)].values[int(operand)];
}
/// Refuses an operand of a type that the function does not take, and says what to do.
constexpr Tensor not_taken(Elementwise function, Tensor operand, Location location) {
    const char* hint = "ids become vectors with embedding, numbers with cast";
    if (operand.dtype() == DType::boolean) hint = "use where(condition, a, b)";
    if (row_of(function).takes == Takes::booleans) hint = "compare it first";
    return dtype_error(*operand.graph, function, operand, hint, location);
}
/// The shape of f(a, b) in `shape`, which is a's before; says why there is none.
constexpr bool broadcast_operands(Graph& graph, Elementwise function, Tensor a, Tensor b,
                                  Shape& shape, Location location) {
    const Shape of_a = shape;
    Text why;
    if (broadcast_shapes(of_a, b.shape(), shape, why, !graph.in_pass())) return true;
    mismatch(graph, function, a, b, why, location);
    return false;
}

}  // namespace detail

/// f(x), elementwise.
constexpr Tensor unary(Elementwise function, Tensor x, Location location = Location::here()) {
    if (!is_usable(row_of(function).literal(), location, {x})) return poison_of({x});
    const Node& operand = x.node();
    if (!detail::is_taken(row_of(function).takes, operand.dtype))
        return detail::not_taken(function, x, location);
    return {x.graph, x.graph->add({.op = Op::elementwise,
                                   .function = function,
                                   .dtype = operand.dtype,
                                   .shape = operand.shape,
                                   .inputs = inputs_of({x.id}),
                                   .location = location})};
}

/// f(a, b), elementwise, broadcasting axes of size 1 and missing leading axes.
constexpr Tensor binary(Elementwise function, const Operand& a, const Operand& b) {
    const ElementwiseRow& row = row_of(function);
    Tensor x = a.is_tensor() ? a.tensor : b.tensor, y = b.is_tensor() ? b.tensor : a.tensor;
    if (!is_usable(row.literal(), a.location, {x, y})) return poison_of({x, y});
    Graph& graph = *x.graph;
    if (!a.is_tensor() && !detail::lift(graph, row.literal(), a, y.dtype(), a.location, x))
        return {&graph, 0};
    if (!b.is_tensor() && !detail::lift(graph, row.literal(), b, x.dtype(), a.location, y))
        return {&graph, 0};
    const Node &of_x = x.node(), &of_y = y.node();
    const DType x_type = of_x.dtype, y_type = of_y.dtype;
    if (!detail::is_taken(row.takes, x_type)) return detail::not_taken(function, x, a.location);
    if (!detail::is_taken(row.takes, y_type)) return detail::not_taken(function, y, a.location);
    if (x_type != y_type) {
        Text why;
        why << name_of(x_type) << " is not " << name_of(y_type) << " (use cast)";
        return detail::mismatch(graph, function, x, y, why, a.location);
    }
    Shape shape = a.is_tensor() ? of_x.shape : of_y.shape;
    if (a.is_tensor() && b.is_tensor() && !shape.is_plainly(of_y.shape) &&
        !detail::broadcast_operands(graph, function, x, y, shape, a.location))
        return {&graph, 0};
    return {&graph, graph.add({.op = Op::elementwise,
                               .function = function,
                               .dtype = row.gives_boolean ? DType::boolean : x_type,
                               .shape = shape,
                               .inputs = inputs_of({x.id, y.id}),
                               .location = a.location})};
}

constexpr Tensor operator+(Operand a, Operand b) { return binary(Elementwise::add, a, b); }
constexpr Tensor operator-(Operand a, Operand b) { return binary(Elementwise::sub, a, b); }
constexpr Tensor operator*(Operand a, Operand b) { return binary(Elementwise::mul, a, b); }
constexpr Tensor operator/(Operand a, Operand b) { return binary(Elementwise::div, a, b); }
constexpr Tensor operator<(Operand a, Operand b) { return binary(Elementwise::lt, a, b); }
constexpr Tensor operator<=(Operand a, Operand b) { return binary(Elementwise::le, a, b); }
constexpr Tensor operator>(Operand a, Operand b) {
    Location written = a.location;
    b.location = written;
    return binary(Elementwise::lt, b, a);
}
constexpr Tensor operator>=(Operand a, Operand b) {
    Location written = a.location;
    b.location = written;
    return binary(Elementwise::le, b, a);
}
/// Elementwise equality (a Tensor's == would read as a comparison of handles).
constexpr Tensor eq(Operand a, Operand b) { return binary(Elementwise::eq, a, b); }
constexpr Tensor maximum(Operand a, Operand b) { return binary(Elementwise::maximum, a, b); }
constexpr Tensor minimum(Operand a, Operand b) { return binary(Elementwise::minimum, a, b); }
constexpr Tensor pow(Operand a, Operand b) { return binary(Elementwise::pow, a, b); }
/// The angle of the point (x, y), from -π to π.
constexpr Tensor atan2(Operand y, Operand x) { return binary(Elementwise::atan2, y, x); }
constexpr Tensor logical_and(Operand a, Operand b) {
    return binary(Elementwise::logical_and, a, b);
}
constexpr Tensor logical_or(Operand a, Operand b) { return binary(Elementwise::logical_or, a, b); }
/// The operand of a sign, and the place it was written.
struct Signed {
    Tensor tensor;
    Location location;

    constexpr Signed(Tensor value, const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                     const char* function = __builtin_FUNCTION())
        : tensor(value), location{file, line, function} {}
};
constexpr Tensor operator-(Signed x) { return unary(Elementwise::neg, x.tensor, x.location); }
constexpr Tensor exp(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::exp, x, l);
}
constexpr Tensor log(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::log, x, l);
}
constexpr Tensor exp2(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::exp2, x, l);
}
constexpr Tensor log2(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::log2, x, l);
}
constexpr Tensor sqrt(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::sqrt, x, l);
}
constexpr Tensor rsqrt(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::rsqrt, x, l);
}
constexpr Tensor tanh(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::tanh, x, l);
}
constexpr Tensor sigmoid(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::sigmoid, x, l);
}
constexpr Tensor relu(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::relu, x, l);
}
constexpr Tensor erf(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::erf, x, l);
}
constexpr Tensor sin(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::sin, x, l);
}
constexpr Tensor cos(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::cos, x, l);
}
constexpr Tensor logical_not(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::logical_not, x, l);
}
/// |x|; of i32, too, where the smallest one stays as it is.
template <class = void>
constexpr Tensor abs(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::abs, x, l);
}
/// -1, 0 or 1; 0 of NaN.
template <class = void>
constexpr Tensor sign(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::sign, x, l);
}
template <class = void>
constexpr Tensor floor(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::floor, x, l);
}
template <class = void>
constexpr Tensor ceil(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::ceil, x, l);
}
/// The nearest whole number, the even one of two.
template <class = void>
constexpr Tensor round(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::round, x, l);
}
/// e^x - 1 and ln(1 + x), without loss where x is small.
template <class = void>
constexpr Tensor expm1(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::expm1, x, l);
}
template <class = void>
constexpr Tensor log1p(Tensor x, Location l = Location::here()) {
    return unary(Elementwise::log1p, x, l);
}

/// `condition ? a : b`, elementwise, broadcasting all three.
constexpr Tensor where(Tensor condition, Operand a, Operand b) {
    const bool numbers = !a.is_tensor() && !b.is_tensor();
    Tensor x = a.is_tensor() ? a.tensor : numbers ? condition : b.tensor;
    Tensor y = b.is_tensor() ? b.tensor : x;
    if (!is_usable("where", a.location, {condition, x, y})) return poison_of({condition, x, y});
    Graph& graph = *condition.graph;
    const DType type = numbers ? f32 : x.dtype();
    if (!detail::lift(graph, "where", a, type, a.location, x) ||
        !detail::lift(graph, "where", b, type, a.location, y))
        return {&graph, 0};
    if (condition.dtype() != DType::boolean)
        return detail::dtype_error(graph, Elementwise::where, condition,
                                   "its condition comes from a comparison", a.location);
    Text why;
    Shape values, shape;
    if (x.dtype() != y.dtype()) {
        why << name_of(x.dtype()) << " is not " << name_of(y.dtype()) << " (use cast)";
        return detail::mismatch(graph, Elementwise::where, x, y, why, a.location);
    }
    if (!detail::broadcast_shapes(x.shape(), y.shape(), values, why, !graph.in_pass()))
        return detail::mismatch(graph, Elementwise::where, x, y, why, a.location);
    if (!detail::broadcast_shapes(condition.shape(), values, shape, why, !graph.in_pass()))
        return detail::mismatch(graph, Elementwise::where, condition,
                                x.rank() == values.rank() ? x : y, why, a.location);
    return make(graph, {.op = Op::elementwise,
                        .function = Elementwise::where,
                        .dtype = type,
                        .shape = shape,
                        .inputs = inputs_of({condition.id, x.id, y.id}),
                        .location = a.location});
}

/// The same values as another type: i32 to f32, bool to 0 and 1, f32 to bf16 or f16 (nearest
/// even, of f16 infinite from 65520 on); to bool, whether they are not 0.
constexpr Tensor cast(Tensor x, DType type, Location location = Location::here()) {
    if (!is_usable("cast", location, {x})) return poison_of({x});
    if (x.dtype() == type) return x;
    if (type == boolean) {
        Operand value = x;
        value.location = location;
        return logical_not(binary(Elementwise::eq, value, 0), location);
    }
    return {x.graph, x.graph->add({.op = Op::elementwise,
                                   .function = Elementwise::identity,
                                   .dtype = type,
                                   .shape = x.shape(),
                                   .inputs = inputs_of({x.id}),
                                   .location = location})};
}

/// The value, with no gradient through it.
constexpr Tensor stop_gradient(Tensor x, Location location = Location::here()) {
    if (!is_usable("stop_gradient", location, {x})) return poison_of({x});
    return make(*x.graph, {.op = Op::stop_gradient,
                           .dtype = x.dtype(),
                           .shape = x.shape(),
                           .inputs = inputs_of({x.id}),
                           .location = location});
}

/// Positions 0, 1, … along axis `axis` of `shape` (all other axes should be 1), as i32.
constexpr Tensor iota(Graph& graph, const Shape& shape, int axis = 0,
                      Location location = Location::here()) {
    const int rank = shape.rank(), i = axis < 0 ? axis + rank : axis;
    if (i < 0 || i >= rank) {
        Text text;
        text << "iota: there is no axis " << axis << " in " << shape;
        return fail(graph, location, 0, text);
    }
    return make(graph,
                {.op = Op::iota, .dtype = i32, .shape = shape, .location = location, .axis = i});
}

/// A constant tensor of a shape.
constexpr Tensor full(Graph& graph, const Shape& shape, double value, DType type = f32,
                      Location location = Location::here()) {
    const Operand number = detail::At{location}(value);
    if (!detail::holds(graph, "full", number, type, location)) return {&graph, 0};
    return make(
        graph,
        {.op = Op::constant, .dtype = type, .shape = shape, .location = location, .value = value});
}

}  // namespace fovea
