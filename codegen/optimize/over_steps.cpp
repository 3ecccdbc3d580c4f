// Each op with one more axis in front of those operands that have it.
#include "codegen/optimize/over_steps.h"

#include <algorithm>
#include <array>
#include <string>

#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "codegen/ops/movement.h"
#include "codegen/ops/reduction.h"

namespace fovea {

bool is_possible_over_steps(const Graph& step, int id) {
    switch (step[id].op) {
        case Op::constant:
        case Op::extent:
        case Op::iota:
        case Op::elementwise:
        case Op::einsum:
        case Op::reduce:
        case Op::broadcast:
        case Op::slice:
        case Op::concat:
        case Op::stop_gradient: return true;
        case Op::rearrange:
            return step.rearranges[std::size_t(step[id].attribute)].count < RearrangeAxes::kMax;
        default: return false;
    }
}

OverSteps::Value OverSteps::value(int id) {
    if (is_defined(id)) return of(id);
    for (int input : step_[id].inputs)
        if (input > 0) value(input);
    Value built = build(id);
    define(id, built);
    return built;
}

OverSteps::Value OverSteps::build(int id) {
    const Node& node = step_[id];
    const Value x = node.inputs[0] > 0 ? of(node.inputs[0]) : Value{};
    switch (node.op) {
        case Op::constant:
        case Op::extent:
        case Op::iota: return {make(target_, node), false};
        case Op::elementwise: return build_elementwise(id);
        case Op::einsum: return build_einsum(node);
        case Op::rearrange: return build_rearrange(node);
        case Op::concat: return build_concat(node);
        case Op::reduce:
            return {reduce(node.reduction, x.tensor, node.axis << int(x.along)), x.along};
        case Op::slice:
            return {slice(x.tensor, node.axis + x.along, node.dim, node.shape[node.axis],
                          node.location),
                    x.along};
        case Op::stop_gradient: return {stop_gradient(x.tensor), x.along};
        case Op::broadcast: {
            if (!x.along) return {broadcast(x.tensor, node.shape), false};
            Tensor y = aligned(node.inputs[0], node.shape.rank());
            Shape shape{y.dim(0)};
            for (const Dim& dim : node.shape) shape.push(dim);
            return {broadcast(y, shape), true};
        }
        default:
            throw InternalError("a scan's " + std::string(row_of(node.op).name) +
                                " is not taken for all steps at once");
    }
}

/// The value with `rank` axes of its own: axes of size 1 go behind that of the steps.
Tensor OverSteps::aligned(int id, int rank) {
    const Value x = of(id);
    Tensor y = x.tensor;
    if (!x.along) return y;
    for (int i = step_[id].shape.rank(); i < rank; ++i) y = unsqueeze(y, 1);
    return y;
}

OverSteps::Value OverSteps::build_elementwise(int id) {
    const Node& node = step_[id];
    std::array<Tensor, 3> operands{};
    bool along = false;
    for (std::size_t i = 0; i < std::size_t(row_of(node.function).arity); ++i) {
        operands[i] = aligned(node.inputs[i], node.shape.rank());
        along = along || of(node.inputs[i]).along;
    }
    switch (row_of(node.function).arity) {
        case 1:
            if (node.function == Elementwise::identity)
                return {cast(operands[0], node.dtype), along};
            return {unary(node.function, operands[0]), along};
        case 2: return {binary(node.function, operands[0], operands[1]), along};
        default: return {where(operands[0], operands[1], operands[2]), along};
    }
}

OverSteps::Value OverSteps::build_einsum(const Node& node) {
    EinsumAxes axes = step_.einsums[std::size_t(node.attribute)];
    int steps = 0;  // a label that the product does not have
    for (const EinsumAxes::List* list : {&axes.a, &axes.b})
        for (int i = 0; i < list->count; ++i)
            steps = std::max(steps, list->label[std::size_t(i)] + 1);
    const Value a = of(node.inputs[0]), b = of(node.inputs[1]);
    const auto with_steps = [&](const EinsumAxes::List& list) {
        EinsumAxes::List result;
        result.push(steps);
        for (int i = 0; i < list.count; ++i) result.push(list.label[std::size_t(i)]);
        return result;
    };
    if (a.along) axes.a = with_steps(axes.a);
    if (b.along) axes.b = with_steps(axes.b);
    if (a.along || b.along) axes.out = with_steps(axes.out);
    axes.pattern = {};
    return {einsum(a.tensor, b.tensor, axes, node.location), a.along || b.along};
}

OverSteps::Value OverSteps::build_rearrange(const Node& node) {
    const Value x = of(node.inputs[0]);
    const RearrangeAxes& own = step_.rearranges[std::size_t(node.attribute)];
    if (!x.along) return {rearrange(x.tensor, own, node.location), false};
    RearrangeAxes axes = own;
    axes.pattern = {};
    axes.count = own.count + 1;
    axes.axis[0] = x.tensor.dim(0);
    axes.order[0] = 0;
    axes.input_group[0] = axes.output_group[0] = 1;
    for (int i = 0; i < own.count; ++i) {
        axes.axis[std::size_t(i + 1)] = own.axis[std::size_t(i)];
        axes.order[std::size_t(i + 1)] = (signed char)(own.order[std::size_t(i)] + 1);
    }
    for (int i = 0; i + 1 < Shape::kMaxRank; ++i) {
        axes.input_group[std::size_t(i + 1)] = own.input_group[std::size_t(i)];
        axes.output_group[std::size_t(i + 1)] = own.output_group[std::size_t(i)];
    }
    return {rearrange(x.tensor, axes, node.location), true};
}

OverSteps::Value OverSteps::build_concat(const Node& node) {
    const Value x = of(node.inputs[0]), y = of(node.inputs[1]);
    if (!x.along && !y.along) return {concat(x.tensor, y.tensor, node.axis, node.location), false};
    const Dim steps = (x.along ? x : y).tensor.dim(0);
    const auto all = [&](const Value& value) {
        if (value.along) return value.tensor;
        Shape shape{steps};
        for (const Dim& dim : value.tensor.shape()) shape.push(dim);
        return broadcast(unsqueeze(value.tensor, 0), shape);
    };
    Tensor a = all(x), b = all(y);
    return {concat(a, b, node.axis + 1, node.location), true};
}

}  // namespace fovea
