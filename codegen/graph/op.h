// The ops of the graph: primitives, and composites that have a body of primitives.
#pragma once

#include <string_view>

namespace fovea {

enum class Op : unsigned char {
    poison,  // what an erroneous op gives: every later op passes it on silently
    // leaves
    input,
    parameter,
    constant,
    extent,
    iota,
    pair,
    step,
    // primitives
    elementwise,
    einsum,
    reduce,
    rearrange,
    broadcast,
    slice,
    windows,
    concat,
    gather,
    scatter_add,
    random,
    stop_gradient,
    when_training,
    // composites
    dropout,
    softmax,
    masked_softmax,
    layer_norm,
    batch_norm,
    cross_entropy,
    smoothed_cross_entropy,
    attention,
    sinusoids,
    pad,
    sum_windows,
    // kernels of their own
    fused_attention,
    linear_cross_entropy,
    scan,
    // results
    output,
};

/// How an op takes part in fusion and lowering.
enum class OpClass : unsigned char {
    leaf,
    elementwise,
    contraction,
    reduction,
    view,
    copy,
    scatter,
    composite,
    attention,
    loss,
    scan,
    output
};

struct OpRow {
    Op op;
    std::string_view name;
    OpClass op_class;
};

inline constexpr OpRow kOps[] = {
    {Op::poison, "poison", OpClass::leaf},
    {Op::input, "input", OpClass::leaf},
    {Op::parameter, "parameter", OpClass::leaf},
    {Op::constant, "constant", OpClass::elementwise},
    {Op::extent, "extent", OpClass::elementwise},
    {Op::iota, "iota", OpClass::elementwise},
    {Op::pair, "pair", OpClass::leaf},
    {Op::step, "step", OpClass::leaf},
    {Op::elementwise, "elementwise", OpClass::elementwise},
    {Op::einsum, "einsum", OpClass::contraction},
    {Op::reduce, "reduce", OpClass::reduction},
    {Op::rearrange, "rearrange", OpClass::view},
    {Op::broadcast, "broadcast", OpClass::elementwise},
    {Op::slice, "slice", OpClass::view},
    {Op::windows, "windows", OpClass::view},
    {Op::concat, "concat", OpClass::copy},
    {Op::gather, "gather", OpClass::elementwise},
    {Op::scatter_add, "scatter_add", OpClass::scatter},
    {Op::random, "random", OpClass::elementwise},
    {Op::stop_gradient, "stop_gradient", OpClass::elementwise},
    {Op::when_training, "when_training", OpClass::elementwise},
    {Op::dropout, "dropout", OpClass::composite},
    {Op::softmax, "softmax", OpClass::composite},
    {Op::masked_softmax, "masked_softmax", OpClass::composite},
    {Op::layer_norm, "layer_norm", OpClass::composite},
    {Op::batch_norm, "batch_norm", OpClass::composite},
    {Op::cross_entropy, "cross_entropy", OpClass::composite},
    {Op::smoothed_cross_entropy, "smoothed_cross_entropy", OpClass::composite},
    {Op::attention, "attention", OpClass::composite},
    {Op::sinusoids, "sinusoids", OpClass::composite},
    {Op::pad, "pad", OpClass::composite},
    {Op::sum_windows, "sum_windows", OpClass::composite},
    {Op::fused_attention, "fused_attention", OpClass::attention},
    {Op::linear_cross_entropy, "linear_cross_entropy", OpClass::loss},
    {Op::scan, "scan", OpClass::scan},
    {Op::output, "output", OpClass::output},
};

constexpr const OpRow& row_of(Op op) { return kOps[int(op)]; }

constexpr bool op_rows_are_in_order() {
    for (std::size_t i = 0; i < std::size(kOps); ++i)
        if (std::size_t(kOps[i].op) != i) return false;
    return true;
}
static_assert(op_rows_are_in_order());

}  // namespace fovea
