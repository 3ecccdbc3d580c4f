// Identities of arithmetic, constants, and operands that need not be broadcast.
#include "codegen/optimize/fold_elementwise.h"

#include <cmath>

#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

using F = Elementwise;

/// Whether a value of `type` has the full precision of the number.
bool is_normal(double number, DType type) {
    constexpr double kLargest = 0x1.fp+127, kSmallest = 0x1p-126;  // of f32, and of bf16
    constexpr double kLargestHalf = 65504, kSmallestHalf = 0x1p-14;  // of f16
    const double size = std::abs(number);
    if (type == DType::f16) return size >= kSmallestHalf && size <= kLargestHalf;
    return size >= kSmallest && size <= kLargest;
}

class ElementwiseFolder {
  public:
    ElementwiseFolder(Rewrite& rewrite, int id)
        : graph_(rewrite.target()),
          node_(rewrite.source()[id]),
          arity_(row_of(node_.function).arity) {
        for (int i = 0; i < arity_; ++i)
            x_[std::size_t(i)] = rewrite.mapped(node_.inputs[std::size_t(i)]);
    }

    std::optional<Tensor> fold() {
        if (auto folded = fold_uniform()) return folded;
        bool changed = drop_broadcasts();
        std::optional<Tensor> simpler = arity_ == 1   ? fold_unary()
                                        : arity_ == 2 ? fold_binary()
                                                      : fold_where();
        if (simpler) return broadcast(*simpler, node_.shape);
        if (changed) return rebuilt();
        return {};
    }

  private:
    const Node& node_of(int i) const { return x_[std::size_t(i)].node(); }
    bool is_constant(int i) const { return node_of(i).op == Op::constant; }
    bool is_constant(int i, double value) const {
        return is_constant(i) && node_of(i).value == value;
    }
    bool is_function(Tensor x, F function) const {
        return x.node().op == Op::elementwise && x.node().function == function;
    }
    Tensor operand(Tensor x, int i) const { return {&graph_, x.node().inputs[std::size_t(i)]}; }
    Tensor constant(double value, DType type) {
        return detail::number(graph_, value, type, node_.location);
    }

    Tensor rebuilt() {
        Node copy = node_;
        for (int i = 0; i < arity_; ++i) copy.inputs[std::size_t(i)] = x_[std::size_t(i)].id;
        return make(graph_, copy);
    }
    /// All operands repeat one number each: so does the result.
    std::optional<Tensor> fold_uniform() {
        std::array<Tensor, 3> scalars{};
        bool constants = true;
        for (int i = 0; i < arity_; ++i) {
            scalars[std::size_t(i)] = uniform_value(x_[std::size_t(i)]);
            if (!scalars[std::size_t(i)].exists()) return {};
            constants = constants && scalars[std::size_t(i)].node().op == Op::constant;
        }
        if (constants) {
            auto value = [&](int i) {
                return i < arity_ ? scalars[std::size_t(i)].node().value : 0;
            };
            if (node_.function == F::identity && !is_float(node_.dtype)) return {};
            const auto evaluate = node_.dtype == i32 ? whole_value : plain_value;
            double result = evaluate(node_.function, value(0), value(1), value(2));
            if (node_.function == F::identity) result = converted(result, node_.dtype);
            return full(graph_, node_.shape, result, node_.dtype);
        }
        if (!node_.shape.rank()) return {};
        x_ = scalars;
        Node copy = node_;
        copy.shape = {};
        for (int i = 0; i < arity_; ++i) copy.inputs[std::size_t(i)] = x_[std::size_t(i)].id;
        return broadcast(make(graph_, copy), node_.shape);
    }
    /// Operands that are broadcast without need, the result having its shape from the others.
    bool drop_broadcasts() {
        bool changed = false;
        for (int i = 0; i < arity_; ++i) {
            Tensor before = x_[std::size_t(i)], scalar = uniform_value(before);
            if (scalar.id == before.id && scalar.exists()) continue;
            if (scalar.exists()) x_[std::size_t(i)] = scalar;
            else if (before.node().op == Op::broadcast) x_[std::size_t(i)] = operand(before, 0);
            else continue;
            if (shape_now() == node_.shape) changed = true;
            else x_[std::size_t(i)] = before;
        }
        return changed;
    }
    Shape shape_now() const {
        Shape shape = x_[0].shape();
        for (int i = 1; i < arity_; ++i) {
            Shape both;
            Text why;
            if (!detail::broadcast_shapes(shape, x_[std::size_t(i)].shape(), both, why)) return {};
            shape = both;
        }
        return shape;
    }
    std::optional<Tensor> fold_unary() {
        Tensor x = x_[0];
        if (node_.function == F::identity && x.dtype() == node_.dtype) return x;
        if (node_.function == F::neg && is_function(x, F::neg)) return operand(x, 0);
        if (node_.function == F::logical_not && is_function(x, F::logical_not))
            return operand(x, 0);
        return {};
    }
    std::optional<Tensor> fold_binary() {
        Tensor a = x_[0], b = x_[1];
        switch (node_.function) {
            case F::add:
                if (is_constant(0, 0)) return b;
                if (is_constant(1, 0)) return a;
                if (is_function(b, F::neg)) return a - operand(b, 0);
                if (is_function(a, F::neg)) return b - operand(a, 0);
                return {};
            case F::sub:
                if (is_constant(1, 0)) return a;
                if (is_constant(0, 0)) return -b;
                if (is_function(b, F::neg)) return a + operand(b, 0);
                return {};
            case F::mul: return fold_product();
            case F::div:
                if (is_constant(1) && is_float(node_.dtype) &&
                    is_normal(1 / node_of(1).value, node_.dtype)) {
                    x_[1] = constant(1 / node_of(1).value, node_.dtype);
                    auto simpler = fold_product();
                    return simpler ? *simpler : a * x_[1];
                }
                return {};
            case F::pow:
                if (is_constant(1, 1)) return a;
                if (is_constant(1, 2)) return a * a;
                if (is_constant(1, 0.5)) return sqrt(a);
                return {};
            default: return {};
        }
    }
    std::optional<Tensor> fold_product() {
        if (is_constant(0)) std::swap(x_[0], x_[1]);
        Tensor a = x_[0];
        if (!is_constant(1)) return {};
        double factor = node_of(1).value;
        if (factor == 1) return a;
        if (factor == -1) return -a;
        if (!is_float(node_.dtype)) return {};
        if (is_function(a, F::neg)) return operand(a, 0) * constant(-factor, node_.dtype);
        if (!is_function(a, F::mul)) return {};
        Tensor inner = operand(a, 1);
        if (inner.node().op != Op::constant || inner.rank()) return {};
        const double both = factor * inner.node().value;
        if (!is_normal(both, node_.dtype)) return {};
        return operand(a, 0) * constant(both, node_.dtype);
    }
    std::optional<Tensor> fold_where() {
        Tensor condition = x_[0], a = x_[1], b = x_[2];
        if (is_constant(0)) return node_of(0).value != 0 ? a : b;
        if (a.id == b.id) return a;
        auto same_condition = [&](Tensor x) {
            return is_function(x, F::where) && x.node().inputs[0] == condition.id;
        };
        if (same_condition(a)) return where(condition, operand(a, 1), b);
        if (same_condition(b)) return where(condition, a, operand(b, 2));
        return {};
    }

    Graph& graph_;
    Node node_;
    int arity_;
    std::array<Tensor, 3> x_{};
};

}  // namespace

Tensor uniform_value(Tensor x) {
    const Node& node = x.node();
    if (!node.shape.rank()) return x;
    if (node.op == Op::constant)
        return detail::number(*x.graph, node.value, node.dtype, node.location);
    if (node.op != Op::broadcast) return {};
    Tensor source{x.graph, node.inputs[0]};
    return source.rank() ? Tensor() : source;
}

std::optional<Tensor> fold_elementwise(Rewrite& rewrite, int id) {
    return ElementwiseFolder(rewrite, id).fold();
}

}  // namespace fovea
