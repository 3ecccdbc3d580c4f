// Elementwise ops: float64 semantics from the table of functions, and their gradients.
#include "codegen/ops/elementwise.h"

#include <cmath>

#include "codegen/ops/array_loop.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/ternary.h"

namespace fovea::ops {

namespace {

void elementwise_reference(const Evaluation& e, Array& result) {
    const Node& node = e.node();
    const ElementwiseRow& row = row_of(node.function);
    std::array<std::vector<std::int64_t>, 3> strides;
    std::array<const double*, 3> data{};
    for (std::size_t i = 0; i < std::size_t(row.arity); ++i) {
        strides[i] = broadcast_strides(*e.inputs[i], e.shape);
        data[i] = e.inputs[i]->values.data();
    }
    double* out = result.values.data();
    const auto evaluate = node.dtype == i32 ? whole_value : plain_value;
    for_each_index(e.shape, {strides[0], strides[1], strides[2]},
                   [&](std::int64_t a, std::int64_t b, std::int64_t c) {
                       double x = data[0][a], y = data[1] ? data[1][b] : 0;
                       *out++ = evaluate(node.function, x, y, data[2] ? data[2][c] : 0);
                   });
    if (node.function == Elementwise::identity)
        for (double& value : result.values) value = converted(value, node.dtype);
}

/// d f(x) of a function of one operand; an empty Tensor for those without a gradient.
Tensor unary_gradient(Elementwise function, Tensor x, Tensor y, Tensor dy) {
    constexpr double kTwoOverRootPi = 1.1283791670955126;
    switch (function) {
        case Elementwise::identity: return cast(dy, x.dtype());
        case Elementwise::neg: return -dy;
        case Elementwise::exp: return dy * y;
        case Elementwise::log: return dy / x;
        case Elementwise::exp2: return dy * (y * kLn2);
        case Elementwise::log2: return dy / (x * kLn2);
        case Elementwise::sqrt: return dy * 0.5 / y;
        case Elementwise::rsqrt: return dy * (y * y * y * -0.5);
        case Elementwise::tanh: return dy * (1.0 - y * y);
        case Elementwise::sigmoid: return dy * (y * (1.0 - y));
        case Elementwise::relu: return where(y <= 0.0, 0.0, dy);  // dy at NaN, as PyTorch's
        case Elementwise::erf: return dy * (exp(-(x * x)) * kTwoOverRootPi);
        case Elementwise::sin: return dy * cos(x);
        case Elementwise::cos: return dy * -sin(x);
        case Elementwise::exp_significand: return dy * y;
        case Elementwise::abs: return dy * sign(x);
        case Elementwise::expm1: return dy * (y + 1.0);
        case Elementwise::log1p: return dy / (x + 1.0);
        default: return {};
    }
}

/// Of maximum and minimum: to the operand that was taken, to both by halves when they are equal,
/// and to both whole where one is NaN, as PyTorch's.
void selection_gradient(Tensor dy, Tensor equal, Tensor first_taken, Tensor second_taken,
                        GradientSink& sink) {
    Tensor share = where(equal, dy * 0.5, dy);
    if (sink.wants(0)) sink.add(0, where(second_taken, 0.0, share));
    if (sink.wants(1)) sink.add(1, where(first_taken, 0.0, share));
}

/// Of a^0 it is 0, also where a is 0, as PyTorch's.
void power_gradient(Tensor a, Tensor b, Tensor y, Tensor dy, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, where(eq(b, 0.0), 0.0, dy * (b * pow(a, b - 1.0))));
    if (!sink.wants(1)) return;
    Tensor positive = a > 0.0;  // elsewhere the logarithm has no value
    sink.add(1, where(positive, dy * (y * log(where(positive, a, 1.0))), 0.0));
}

/// 0 where both are 0, as PyTorch's. Squares are those of shares of the larger one, which neither
/// overflow nor vanish.
void angle_gradient(Tensor y, Tensor x, Tensor dangle, GradientSink& sink) {
    Tensor of_x = abs(x), of_y = abs(y);
    Tensor largest = maximum(of_x, of_y);
    Tensor is_none = eq(largest, 0.0);
    Tensor divisor = where(is_none, 1.0, largest);
    Tensor x_share = x / divisor, y_share = y / divisor;
    Tensor x_square = x_share * x_share, y_square = y_share * y_share;
    Tensor slope = dangle / (x_square + y_square) / divisor;
    slope = where(is_none, 0.0, slope);
    if (sink.wants(0)) sink.add(0, slope * x_share);
    if (sink.wants(1)) sink.add(1, -(slope * y_share));
}

void binary_gradient(Elementwise function, Tensor y, Tensor dy, GradientSink& sink) {
    Tensor a = sink.input(0), b = sink.input(1);
    auto add = [&](int i, auto&& gradient) {
        if (sink.wants(i)) sink.add(i, gradient());
    };
    switch (function) {
        case Elementwise::add:
        case Elementwise::sub:
            add(0, [&] { return dy; });
            add(1, [&] { return function == Elementwise::add ? dy : -dy; });
            break;
        case Elementwise::mul:
            add(0, [&] { return dy * b; });
            add(1, [&] { return dy * a; });
            break;
        case Elementwise::div:
            add(0, [&] { return dy / b; });
            add(1, [&] { return -(dy * y) / b; });
            break;
        case Elementwise::maximum: return selection_gradient(dy, eq(a, b), a > b, a < b, sink);
        case Elementwise::minimum: return selection_gradient(dy, eq(a, b), a<b, a> b, sink);
        case Elementwise::tanh_of_exp:
            add(0, [&] { return dy * ((1.0 - y * y) * 0.5) / a; });
            add(1, [&] { return dy * ((1.0 - y * y) * (0.5 * kLn2)); });
            break;
        case Elementwise::sigmoid_of_exp:
            add(0, [&] { return dy * (y * (y - 1.0)) / a; });
            add(1, [&] { return dy * (y * (y - 1.0) * kLn2); });
            break;
        case Elementwise::pow: return power_gradient(a, b, y, dy, sink);
        case Elementwise::atan2: return angle_gradient(a, b, dy, sink);
        default: break;
    }
}

/// Of sine and cosine of x 2^(y + z).
void scaled_gradient(Elementwise function, Tensor dy, GradientSink& sink) {
    Tensor x = sink.input(0), y = sink.input(1), z = sink.input(2);
    const bool is_sine = function == Elementwise::sin_scaled;
    Tensor slope =
        detail::ternary(is_sine ? Elementwise::cos_scaled : Elementwise::sin_scaled, x, y, z);
    Tensor power = exp2(y + z);
    slope = dy * slope * (is_sine ? power : -power);
    if (sink.wants(0)) sink.add(0, slope);
    for (int i : {1, 2})
        if (sink.wants(i)) sink.add(i, slope * x * kLn2);
}

void elementwise_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (node.function == Elementwise::where) {
        Tensor condition = sink.input(0);
        if (sink.wants(1)) sink.add(1, where(condition, dy, 0.0));
        if (sink.wants(2)) sink.add(2, where(condition, 0.0, dy));
    } else if (row_of(node.function).arity == 3) {
        scaled_gradient(node.function, dy, sink);
    } else if (row_of(node.function).arity == 2) {
        binary_gradient(node.function, y, dy, sink);
    } else if (sink.wants(0)) {
        Tensor gradient = unary_gradient(node.function, sink.input(0), y, dy);
        if (gradient.exists()) sink.add(0, gradient);
    }
}

/// The node's function of other operands.
Tensor applied(const Node& node, Tensor x, Tensor y, Tensor z) {
    if (node.function == Elementwise::identity) return cast(x, node.dtype);
    switch (row_of(node.function).arity) {
        case 1: return unary(node.function, x);
        case 2: return binary(node.function, x, y);
        default:
            return node.function == Elementwise::where ? where(x, y, z)
                                                       : detail::ternary(node.function, x, y, z);
    }
}
Tensor elementwise_derive(const Derivation& d) {
    return applied(d.node, d.inputs[0], d.inputs[1], d.inputs[2]);
}
Tensor elementwise_batch(const Batch& b) {
    std::array<Tensor, 3> operands{};
    for (int i = 0; i < row_of(b.node().function).arity; ++i)
        operands[std::size_t(i)] = aligned(b, i, b.node().shape.rank());
    return applied(b.node(), operands[0], operands[1], operands[2]);
}
std::string elementwise_text(const Graph&, const Node& node) {
    const bool is_cast = node.function == Elementwise::identity;
    return is_cast ? fmt::format("cast {}", name_of(node.dtype))
                   : std::string(row_of(node.function).name);
}

}  // namespace

OpDef elementwise_def() {
    return {.op = Op::elementwise,
            .inputs = {1, 3},
            .cost = Cost::few,
            .reference = elementwise_reference,
            .gradient = elementwise_gradient,
            .axis = aligned_axis,
            .batch = elementwise_batch,
            .derive = elementwise_derive,
            .text = elementwise_text};
}

}  // namespace fovea::ops
