// Looks at each node once, its inputs being folded already.
#include "codegen/optimize/fold.h"

#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"
#include "codegen/optimize/fold_elementwise.h"

namespace fovea {

namespace {

std::optional<Tensor> fold_rearrange(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    Tensor x = rewrite.mapped(node.inputs[0]);
    const RearrangeAxes& axes = rewrite.source().rearranges[std::size_t(node.attribute)];
    if (is_identity(axes) && fits(x.shape(), node.shape)) return x;
    if (Tensor value = uniform_value(x); value.exists() && x.rank())
        return broadcast(value, node.shape);
    if (x.node().op != Op::rearrange) return {};
    RearrangeAxes inner = rewrite.target().rearranges[std::size_t(x.node().attribute)];
    Tensor source{x.graph, x.node().inputs[0]};
    auto both = compose(inner, axes);
    if (!both) return {};
    if (is_identity(*both) && fits(source.shape(), node.shape)) return source;
    return rearrange(source, *both, node.location);
}

std::optional<Tensor> fold_broadcast(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    Tensor x = rewrite.mapped(node.inputs[0]);
    if (fits(x.shape(), node.shape)) return x;
    if (x.node().op == Op::constant)
        return full(rewrite.target(), node.shape, x.node().value, node.dtype);
    if (x.node().op != Op::broadcast) return {};
    return broadcast({x.graph, x.node().inputs[0]}, node.shape);
}

std::optional<Tensor> fold_slice(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    Tensor x = rewrite.mapped(node.inputs[0]);
    if (fits(x.shape(), node.shape) && node.stride > 0) return x;
    if (Tensor value = uniform_value(x); value.exists()) return broadcast(value, node.shape);
    return {};
}
std::optional<Tensor> fold_windows(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    const Tensor value = uniform_value(rewrite.mapped(node.inputs[0]));
    return value.exists() ? std::optional(broadcast(value, node.shape)) : std::nullopt;
}

/// A part without positions joins nothing.
std::optional<Tensor> fold_concat(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    std::vector<Tensor> parts;
    int count = 0;
    for (int input : node.inputs) {
        if (input <= 0) break;
        const Tensor part = rewrite.mapped(input);
        ++count;
        if (!(part.shape()[node.axis] == Dim(0))) parts.push_back(part);
    }
    if (parts.empty()) return rewrite.mapped(node.inputs[0]);
    if (int(parts.size()) == count) return {};
    return concat(parts, node.axis, node.location);
}

std::optional<Tensor> fold_reduce(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    Tensor x = rewrite.mapped(node.inputs[0]);
    int axes = 0;
    for (int i = 0; i < x.rank(); ++i)
        if ((node.axis >> i & 1) && !x.shape()[i].is_one()) axes |= 1 << i;
    if (!axes) return x;
    if (axes == node.axis) return {};
    Node copy = node;
    copy.axis = axes;
    copy.inputs[0] = x.id;
    return make(rewrite.target(), copy);
}

/// Operands that are permuted: the einsum reads them as they are, under permuted labels.
std::optional<Tensor> fold_einsum(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    EinsumAxes axes = rewrite.source().einsums[std::size_t(node.attribute)];
    std::array<Tensor, 2> operands{rewrite.mapped(node.inputs[0]), rewrite.mapped(node.inputs[1])};
    bool changed = false;
    for (int i = 0; i < 2; ++i) {
        Tensor& x = operands[std::size_t(i)];
        if (x.node().op != Op::rearrange) continue;
        const RearrangeAxes& moved = rewrite.target().rearranges[std::size_t(x.node().attribute)];
        if (!is_permutation(moved)) continue;
        EinsumAxes::List& list = i ? axes.b : axes.a;
        EinsumAxes::List before = list;
        for (int k = 0; k < before.count; ++k)
            list.label[std::size_t(moved.order[std::size_t(k)])] = before.label[std::size_t(k)];
        x = {x.graph, x.node().inputs[0]};
        changed = true;
    }
    if (!changed) return {};
    axes.pattern = {};
    return einsum(operands[0], operands[1], axes, node.location);
}

std::optional<Tensor> fold_node(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    switch (node.op) {
        case Op::extent:
            if (!node.dim.is_static()) return {};
            return full(rewrite.target(), node.shape, double(node.dim.value()), node.dtype);
        case Op::elementwise: return fold_elementwise(rewrite, id);
        case Op::stop_gradient: return rewrite.mapped(node.inputs[0]);
        case Op::rearrange: return fold_rearrange(rewrite, id);
        case Op::broadcast: return fold_broadcast(rewrite, id);
        case Op::slice: return fold_slice(rewrite, id);
        case Op::windows: return fold_windows(rewrite, id);
        case Op::concat: return fold_concat(rewrite, id);
        case Op::reduce: return fold_reduce(rewrite, id);
        case Op::einsum: return fold_einsum(rewrite, id);
        default: return {};
    }
}

}  // namespace

Graph fold(const Graph& graph) { return Rewrite::run(graph, fold_node); }

}  // namespace fovea
