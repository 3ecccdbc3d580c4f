// Layers with parameters: linear, convolutions, embedding.
#pragma once

#include "codegen/ops/composed/convolution.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/gather.h"
#include "dsl/scope.h"

namespace fovea {

struct LinearOptions {
    bool bias = true;
    Dim in = 0;  // the width that x must have; 0: any
    bool in_out = false;  // `weight` is [in, out], as files of GPT-2 have it
};

/// x Wᵀ over the last axis: x [..., in], weight [out, in] → [..., out].
template <class = void>
constexpr Tensor linear(Tensor x, Tensor weight, Location location = Location::here()) {
    return linear_product(x, weight, location);
}
/// x Wᵀ + b: bias [out].
template <class = void>
constexpr Tensor linear(Tensor x, Tensor weight, Tensor bias,
                        Location location = Location::here()) {
    if (!is_usable("linear", location, {x, weight, bias})) return poison_of({x, weight, bias});
    Tensor y = linear_product(x, weight, location);
    if (y.is_poison()) return y;
    if (bias.rank() != 1 || bias.dtype() != y.dtype() || !fits(y.dim(-1), bias.dim(0))) {
        Text text;
        text << "linear: a bias " << name_of(bias.dtype()) << " " << bias.shape()
             << " does not match the product " << name_of(y.dtype()) << " " << y.shape();
        bias.graph->write_origin(text, bias.id);
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    return detail::At{location}(y) + bias;
}

/// x Wᵀ + b over the last axis: x [..., in] → [..., out]. Parameters `weight` [out, in], `bias`
/// [out].
constexpr Tensor linear(Scope s, Tensor x, Dim out, LinearOptions options = {},
                        Location location = Location::here()) {
    if (!is_usable("linear", location, {x})) return poison_of({x});
    Dim in = x.rank() ? x.dim(-1) : Dim(0);
    bool right_width = options.in == Dim(0) || fits(options.in, in);
    if (!is_float(x.dtype()) || !x.rank() || !right_width) {
        Text text;
        text << "linear: expected [..., " << (options.in == Dim(0) ? Dim("in") : options.in)
             << "] of f32, bf16 or f16, got " << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        if (x.dtype() == i32) text << " (did you forget embedding?)";
        return fail(*x.graph, location, s.id, text);
    }
    const Shape shape = options.in_out ? Shape{in, out} : Shape{out, in};
    Tensor weight = s.parameter("weight", shape, Initial::xavier_uniform, x.dtype(), location);
    if (options.in_out) weight = permute(weight, {1, 0}, location);
    Tensor y = linear_product(x, weight, location);
    if (!y.is_poison()) y.graph->nodes[std::size_t(y.id)].scope = s.id;
    if (!options.bias || y.is_poison()) return y;
    Tensor bias = s.parameter("bias", {out}, Initial::linear_bias, x.dtype(), location);
    if (bias.is_poison()) return bias;
    bias.graph->nodes[std::size_t(bias.id)].dim = in.without_label();
    y = detail::At{location}(y) + bias;
    if (!y.is_poison()) y.graph->nodes[std::size_t(y.id)].scope = s.id;
    return y;
}

struct Conv1dLayer {
    int stride = 1, padding = 0, dilation = 1;  // see Conv1dOptions
    Dim groups = 1;
    bool bias = true;
};
struct Conv2dLayer {
    ForBoth stride = 1, padding = 0, dilation = 1;
    Dim groups = 1;
    bool bias = true;
};

namespace detail {

/// Parameters `weight` and `bias`, with PyTorch's shapes and initial values.
constexpr Tensor convolution_layer(Scope s, const Convolution& c, Tensor x, const Dim& out,
                                   std::initializer_list<int> kernel, bool has_bias,
                                   Location location) {
    if (!is_usable(c.name, location, {x})) return poison_of({x});
    if (c.refuses(x, location)) return {x.graph, 0};
    Shape shape{out, c.groups.is_one() ? x.dim(1) : x.dim(1).without_label() / c.groups};
    Dim fan_in = shape[1].without_label();
    for (int size : kernel) {
        shape.push(Dim(size));
        fan_in = fan_in * Dim(size);
    }
    const auto parameter = [&](const char* name, const Shape& its) {
        Tensor made = s.parameter(name, its, Initial::linear_bias, x.dtype(), location);
        if (!made.is_poison()) made.graph->nodes[std::size_t(made.id)].dim = fan_in;
        return made;
    };
    const auto named = [&](Tensor y) {
        if (!y.is_poison()) y.graph->nodes[std::size_t(y.id)].scope = s.id;
        return y;
    };
    Tensor weight = parameter("weight", shape);
    Tensor y = named(convolve(c, x, weight, location));
    if (!has_bias || y.is_poison()) return y;
    return named(with_bias(c, y, parameter("bias", {out}), location));
}

}  // namespace detail

/// A convolution of x [batch, channels, length] to `out` channels, see conv1d of tensors.
/// Parameters `weight` [out, channels / groups, kernel] and `bias` [out].
template <class = void>
constexpr Tensor conv1d(Scope s, Tensor x, Dim out, int kernel, Conv1dLayer layer = {},
                        Location location = Location::here()) {
    const Conv1dOptions options{layer.stride, layer.padding, layer.dilation, layer.groups};
    return detail::convolution_layer(s, options, x, out, {kernel}, layer.bias, location);
}
/// A convolution of x [batch, channels, height, width] to `out` channels. Parameters `weight` [out,
/// channels / groups, kernel height, kernel width] and `bias` [out].
template <class = void>
constexpr Tensor conv2d(Scope s, Tensor x, Dim out, ForBoth kernel, Conv2dLayer layer = {},
                        Location location = Location::here()) {
    const Conv2dOptions options{layer.stride, layer.padding, layer.dilation, layer.groups};
    return detail::convolution_layer(s, options, x, out, {kernel.height, kernel.width}, layer.bias,
                                     location);
}

struct EmbeddingOptions {
    Initial initial = Initial::normal;
    int padding = -1;  // this id's row starts as zeros, its look-ups give no gradient; -1: none
};

/// The parameter `weight` [rows, width] of an embedding, for models that use it in several places.
constexpr Tensor embedding_table(Scope s, Dim rows, Dim width, EmbeddingOptions options = {},
                                 Location location = Location::here()) {
    if (rows.is_static() && rows.mistake() == DimMistake::none && options.padding >= 0 &&
        options.padding >= rows.value()) {
        Text text;
        text << "embedding: id " << options.padding << ", of padding, is outside the table ["
             << rows << ", " << width << "]";
        return fail(*s.graph, location, s.id, text);
    }
    Tensor weight = s.parameter("weight", {rows, width}, options.initial, f32, location);
    if (!weight.is_poison()) weight.graph->nodes[std::size_t(weight.id)].zero_row = options.padding;
    return weight;
}

/// Rows of `table` [rows, width] by id: ids i32 [...] → [..., width]. Rows of the id `padding` give
/// the table no gradient.
constexpr Tensor look_up(Scope s, Tensor table, Tensor ids, int padding = -1,
                         Location location = Location::here()) {
    if (!is_usable("embedding", location, {ids, table})) return {s.graph, 0};
    if (table.rank() != 2) {
        Text text;
        text << "embedding: expected a table [rows, width], got " << table.shape();
        table.graph->write_origin(text, table.id);
        return fail(*ids.graph, location, s.id, text);
    }
    if (ids.dtype() != i32) {
        Text text;
        text << "embedding: expected i32 ids, got " << name_of(ids.dtype()) << " " << ids.shape();
        ids.graph->write_origin(text, ids.id);
        return fail(*ids.graph, location, s.id, text);
    }
    Tensor y = gather(table, ids, location);
    if (padding >= 0) {
        Tensor is_padding = eq(unsqueeze(ids, ids.rank(), location), padding);
        y = where(is_padding, stop_gradient(y, location), y);
    }
    if (!y.is_poison()) y.graph->nodes[std::size_t(y.id)].scope = s.id;
    return y;
}

/// Rows of `weight` [rows, width] by id: ids i32 [...] → [..., width].
constexpr Tensor embedding(Scope s, Tensor ids, Dim rows, Dim width, EmbeddingOptions options = {},
                           Location location = Location::here()) {
    if (!is_usable("embedding", location, {ids})) return poison_of({ids});
    Tensor table = embedding_table(s, rows, width, options, location);
    return look_up(s, table, ids, options.padding, location);
}

}  // namespace fovea
