// A value with a gradient of the model's own, as jax.custom_vjp and torch.autograd.Function make.
#pragma once

#include <array>
#include <concepts>

#include "codegen/ops/elementwise.h"

namespace fovea {

namespace detail {

constexpr std::array<Tensor, 1> as_list(Tensor tensor) { return {tensor}; }
template <std::size_t Count>
constexpr std::array<Tensor, Count> as_list(const std::array<Tensor, Count>& tensors) {
    return tensors;
}

constexpr Tensor wrong_own_gradient(Tensor operand, Tensor gradient, Location location) {
    Text text;
    text << "custom_gradient: the gradient of an operand " << name_of(operand.dtype()) << " "
         << operand.shape();
    operand.graph->write_origin(text, operand.id);
    text << " is " << name_of(gradient.dtype()) << " " << gradient.shape()
         << ": expected its shape and type";
    return fail(*operand.graph, location, operand.graph->scope_of(operand.id), text);
}

}  // namespace detail

/// `value`, whose gradient goes to `operands` alone, as `gradient(dy)` says: dy is the gradient of
/// the value, of its shape; it returns that of the operand, or a std::array of those of all, each
/// of its operand's shape. `custom_gradient(round(x), {x}, [](Tensor dy) { return dy; })` passes
/// the gradient through a function of steps.
template <std::size_t Count, class F>
    requires std::invocable<F, Tensor>
constexpr Tensor custom_gradient(Tensor value, const Tensor (&operands)[Count], F&& gradient,
                                 Location location = Location::here()) {
    if (!is_usable("custom_gradient", location, {value})) return poison_of({value});
    Graph& graph = *value.graph;
    if (!is_float(value.dtype())) {
        Text text;
        text << "custom_gradient: a value " << name_of(value.dtype()) << " " << value.shape()
             << " has no gradient: expected f32, bf16 or f16";
        return fail(graph, location, graph.scope_of(value.id), text);
    }
    // What stands for the gradient is zeros that are the value's in all but number, so that it is
    // one for each element where the value is.
    const detail::At at{location};
    const Tensor cotangent = stop_gradient(at(value) * at(0.0), location);
    static_assert(std::is_convertible_v<decltype(detail::as_list(gradient(cotangent))),
                                        std::array<Tensor, Count>>,
                  "custom_gradient: the function returns the gradient of its one operand, or of "
                  "several a std::array<Tensor, N>, one for each");
    const std::array<Tensor, Count> gradients = detail::as_list(gradient(cotangent));
    Tensor result = value;
    for (std::size_t i = 0; i < Count; ++i) {
        if (!is_usable("custom_gradient", location, {value, operands[i], gradients[i]}))
            return {&graph, 0};
        if (!fits(operands[i].shape(), gradients[i].shape()) ||
            operands[i].dtype() != gradients[i].dtype())
            return detail::wrong_own_gradient(operands[i], gradients[i], location);
        result = make(
            graph, {.op = Op::stop_gradient,
                    .dtype = value.dtype(),
                    .shape = value.shape(),
                    .inputs = inputs_of({result.id, cotangent.id, operands[i].id, gradients[i].id}),
                    .location = location,
                    .axis = i > 0});
    }
    return result;
}

}  // namespace fovea
