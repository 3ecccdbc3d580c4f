// Long short-term memory, with the parameters of PyTorch's nn.LSTM.
#pragma once

#include <initializer_list>

#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/scan.h"
#include "dsl/scope.h"

namespace fovea {

/// [batch, hidden] each.
struct LSTMState {
    Tensor h, c;
};

/// Layer `layer` of an LSTM: weights [4 hidden, input] and [4 hidden, hidden], biases [4 hidden],
/// of the gates i, f, g, o (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al.
/// 2000).
struct LSTMLayer {
    Scope scope;
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;
    Dim hidden;
};
constexpr LSTMLayer lstm_layer(Scope s, Dim input, Dim hidden, int layer = 0,
                               Location location = Location::here()) {
    const Dim gates = 4 * hidden.without_label();
    // U(-1/√hidden, 1/√hidden), all of them.
    auto parameter = [&](const char* name, const Shape& shape) {
        Tensor made = s.parameter(name, layer, shape, Initial::linear_bias, f32, location);
        if (!made.is_poison()) made.graph->nodes[std::size_t(made.id)].dim = hidden.without_label();
        return made;
    };
    Tensor weight_ih = parameter("weight_ih_l", {gates, input}),
           weight_hh = parameter("weight_hh_l", {gates, hidden}),
           bias_ih = parameter("bias_ih_l", {gates}), bias_hh = parameter("bias_hh_l", {gates});
    return {s, weight_ih, weight_hh, bias_ih, bias_hh, hidden};
}

/// One step, whose input is the concatenation of `parts` ([batch, …] each).
constexpr LSTMState lstm_step(const LSTMLayer& layer, std::initializer_list<Tensor> parts,
                              LSTMState before, Location location = Location::here()) {
    const auto product = [&](Tensor x, Tensor weight) {
        return value_of(layer.scope, linear_product(x, weight, location));
    };
    Dim wide = 0;
    for (const Tensor& part : parts) {
        if (!is_usable("lstm", location, {layer.weight_ih, part, before.h, before.c}))
            return {poison_of({layer.weight_ih}), poison_of({layer.weight_ih})};
        wide = wide + part.dim(-1, location);
    }
    if (!fits(wide, layer.weight_ih.dim(1)) || parts.size() == 0) {
        Graph& graph = *layer.scope.graph;
        Text text;
        text << "lstm: its inputs are " << wide << " wide, its weight is "
             << layer.weight_ih.shape();
        graph.write_origin(text, layer.weight_ih.id);
        fail(graph, location, layer.scope.id, text);
        return {{&graph, 0}, {&graph, 0}};
    }
    const detail::At at{location};
    Tensor sums = at(layer.bias_ih) + layer.bias_hh;
    Dim first = 0;
    const bool whole = parts.size() == 1;
    // The parts that do not depend on the state first: their products can be hoisted from a loop.
    for (std::size_t i = parts.size(); i-- > 0;) {
        Tensor x = parts.begin()[i];
        first = Dim(0);
        for (std::size_t k = 0; k < i; ++k) first = first + parts.begin()[k].dim(-1);
        Tensor weight =
            whole ? layer.weight_ih : slice(layer.weight_ih, 1, first, x.dim(-1), location);
        sums = value_of(layer.scope, at(product(x, weight)) + sums);
    }
    sums = value_of(layer.scope, at(product(before.h, layer.weight_hh)) + sums);
    auto gate = [&](int number) {
        Dim width = layer.hidden.without_label();
        return slice(sums, -1, number * width, layer.hidden, location);
    };
    Tensor i = sigmoid(gate(0), location), f = sigmoid(gate(1), location),
           g = tanh(gate(2), location), o = sigmoid(gate(3), location);
    Tensor kept = at(f) * before.c, added = at(i) * g;
    Tensor c = at(kept) + added;
    return {value_of(layer.scope, at(o) * tanh(c, location)), value_of(layer.scope, c)};
}

/// One layer over all steps: x [steps, batch, input] → h [steps, batch, hidden] and the last state.
constexpr Step<Tensor, LSTMState> lstm(const LSTMLayer& layer, Tensor x, LSTMState initial,
                                       Location location = Location::here()) {
    return scan(
        x, initial,
        [&](Tensor x_t, LSTMState before) {
            LSTMState next = lstm_step(layer, {x_t}, before, location);
            return Step{next.h, next};
        },
        {}, location);
}

/// Zeros [batch, hidden].
constexpr LSTMState lstm_start(Graph& graph, Dim batch, Dim hidden,
                               Location location = Location::here()) {
    Tensor zeros = full(graph, {batch, hidden}, 0, f32, location);
    return {zeros, zeros};
}

}  // namespace fovea
