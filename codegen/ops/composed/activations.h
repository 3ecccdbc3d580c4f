// Activations: PyTorch's functions of their names, with its defaults, and its gradients at kinks.
#pragma once

#include "codegen/ops/composed/composed.h"

namespace fovea {

/// x Φ(x), with the exact Φ (PyTorch's default).
template <class = void>
constexpr Tensor gelu(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("gelu", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor phi = erf(at(x) * 0.70710678118654752, l);
    Tensor half = at(x) * 0.5, twice = at(phi) + 1.0;
    return at(half) * twice;
}

/// x Φ(x), with the Φ of GPT-2 and BERT's code: (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2. That is
/// σ of twice the tanh's argument, which keeps its digits where 1 + tanh(…) cancels, below -2. σ is
/// 0 or 1 long before the square is bounded, which keeps it and the gradient, 0 times it, finite.
template <class = void>
constexpr Tensor gelu_tanh(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("gelu_tanh", x, l)) return poison_of({x});
    const detail::At at{l};
    constexpr double kBound = 16384;
    Tensor square = minimum(at(at(x) * x), kBound);
    Tensor cubic = at(at(square) * 0.044715) + 1.0;
    Tensor inner = at(at(x) * cubic) * 1.59576912160573071;
    return at(x) * sigmoid(inner, l);
}

/// x σ(x), also called swish.
template <class = void>
constexpr Tensor silu(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("silu", x, l)) return poison_of({x});
    return detail::At{l}(x)*sigmoid(x, l);
}

/// ln(1 + e^x).
template <class = void>
constexpr Tensor softplus(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("softplus", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor small = exp(at(abs(x, l)) * -1.0, l);
    Tensor large = maximum(at(x), 0.0), rest = log1p(small, l);
    return at(large) + rest;
}

/// ln σ(x).
template <class = void>
constexpr Tensor log_sigmoid(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("log_sigmoid", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor small = exp(at(abs(x, l)) * -1.0, l);
    Tensor large = minimum(at(x), 0.0), rest = log1p(small, l);
    return at(large) - rest;
}

/// x tanh(ln(1 + e^x)) (Misra 2019).
template <class = void>
constexpr Tensor mish(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("mish", x, l)) return poison_of({x});
    return detail::At{l}(x)*tanh(softplus(x, l), l);
}

/// x, and `slope` x below 0.
template <class = void>
constexpr Tensor leaky_relu(Tensor x, double slope = 0.01, Location l = Location::here()) {
    if (!detail::is_of_floats("leaky_relu", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor is_above = at(x) > 0.0, below = at(x) * slope;
    return where(is_above, at(x), at(below));
}

/// x, and `alpha` (e^x - 1) below 0 (Clevert, Unterthiner and Hochreiter 2016).
template <class = void>
constexpr Tensor elu(Tensor x, double alpha = 1, Location l = Location::here()) {
    if (!detail::is_of_floats("elu", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor is_below = at(x) <= 0.0;
    Tensor below = where(is_below, at(x), 0.0);  // elsewhere e^x could be infinite
    return where(is_below, at(at(expm1(below, l)) * alpha), at(x));
}

/// min(max(0, x), 6).
template <class = void>
constexpr Tensor relu6(Tensor x, Location l = Location::here()) {
    if (!detail::is_of_floats("relu6", x, l)) return poison_of({x});
    const detail::At at{l};
    Tensor is_above = at(x) >= 6.0, below = relu(x, l);
    return where(is_above, at(6.0), below);
}

}  // namespace fovea
