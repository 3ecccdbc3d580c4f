#include "codegen/optimize/sum_windows_into_einsum.h"

#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/windows.h"

namespace fovea {

namespace {

/// Elements of windows that are stored innermost: fewer would leave most of a vector unused.
constexpr std::int64_t kVector = 16;

int place_of(const EinsumAxes::List& list, int label) {
    for (int i = 0; i < list.count; ++i)
        if (list.label[std::size_t(i)] == label) return i;
    return -1;
}

EinsumAxes::List without(const EinsumAxes::List& list, int label) {
    EinsumAxes::List rest;
    for (int i = 0; i < list.count; ++i)
        if (list.label[std::size_t(i)] != label) rest.push(list.label[std::size_t(i)]);
    return rest;
}
EinsumAxes::List with_behind(const EinsumAxes::List& list, int label, int added) {
    EinsumAxes::List all;
    for (int i = 0; i < list.count; ++i) {
        all.push(list.label[std::size_t(i)]);
        if (list.label[std::size_t(i)] == label) all.push(added);
    }
    return all;
}

/// x with zeros along an axis; of windows along other axes, windows of that: they stay a view.
Tensor padded(Tensor x, int axis, const Dim& before, const Dim& after) {
    const Node node = x.node();
    if (node.op != Op::windows || axis == node.axis || axis == node.axis + 1)
        return pad(x, axis, before, after);
    const int own = axis < node.axis ? axis : axis - 1;
    Tensor source = padded({x.graph, node.inputs[0]}, own, before, after);
    const int size = int(node.shape[node.axis + 1].value());
    return detail::windows_of(source, node.axis, size, {node.stride, node.dilation}, node.location);
}

/// Positions `first` to `first + size` of an axis: of fewer zeros, and of windows of fewer
/// positions, where x is such.
Tensor narrowed(Tensor x, int axis, const Dim& first, const Dim& size) {
    const Node node = x.node();
    if (node.op == Op::windows && axis != node.axis + 1 &&
        (axis != node.axis || node.stride == 1)) {
        const int width = int(node.shape[node.axis + 1].value());
        const WindowOptions options{node.stride, node.dilation};
        const bool is_along = axis == node.axis;
        const Dim all = is_along ? size + Dim(detail::covered_by(width, options) - 1) : size;
        Tensor source =
            narrowed({x.graph, node.inputs[0]}, axis > node.axis ? axis - 1 : axis, first, all);
        return detail::windows_of(source, node.axis, width, options, node.location);
    }
    if (node.op == Op::pad) {
        const Tensor inner{x.graph, node.inputs[0]};
        const Dim before = node.dim, own = inner.dim(node.axis).without_label();
        const Dim after = node.shape[node.axis].without_label() - before - own;
        if (axis != node.axis)
            return pad(narrowed(inner, axis, first, size), node.axis, before, after);
        const Dim fewer = before - first, left = first + size - before - own;
        const auto is_some = [](const Dim& dim) { return dim.is_static() && dim.value() >= 0; };
        if (is_some(fewer) && is_some(left)) return pad(inner, axis, fewer, left);
    }
    return slice(x, axis, first, size, node.location);
}

class Merging {
  public:
    explicit Merging(const Graph& graph) : graph_(graph), readers_(count_readers(graph)) {}

    /// What node `id` becomes; nothing where it stays.
    std::optional<Tensor> merged(Rewrite& rewrite, int id) const {
        if (graph_[id].op == Op::slice) return part_of_product(rewrite, id);
        return over_windows_or_in_order(rewrite, id);
    }

  private:
    /// A part of a product is the product of parts: what is padded in the forward pass has no
    /// gradient there.
    std::optional<Tensor> part_of_product(Rewrite& rewrite, int id) const {
        const Node& part = graph_[id];
        const Tensor x = rewrite.mapped(part.inputs[0]);
        if (part.stride != 1 || readers_[std::size_t(part.inputs[0])] > 1) return {};
        if (x.node().op != Op::einsum) return {};
        EinsumAxes labels = rewrite.target().einsums[std::size_t(x.node().attribute)];
        const int label = labels.out.label[std::size_t(part.axis)];
        const Node product = x.node();
        Tensor a{x.graph, product.inputs[0]}, b{x.graph, product.inputs[1]};
        const int in_a = place_of(labels.a, label), in_b = place_of(labels.b, label);
        if (in_a >= 0 && in_b >= 0) return {};
        Tensor& own = in_a >= 0 ? a : b;
        if (own.node().op != Op::windows) return {};
        own = narrowed(own, in_a >= 0 ? in_a : in_b, part.dim, part.shape[part.axis]);
        labels.pattern = {};
        Tensor y = einsum(a, b, labels, product.location);
        y.graph->nodes[std::size_t(y.id)].scope = product.scope;
        return y;
    }

    std::optional<Tensor> over_windows_or_in_order(Rewrite& rewrite, int id) const {
        const Node& sum = graph_[id];
        if (sum.op != Op::sum_windows || readers_[std::size_t(sum.inputs[0])] > 1) return {};
        const Tensor x = rewrite.mapped(sum.inputs[0]);
        if (x.node().op != Op::einsum) return {};
        const EinsumAxes labels = rewrite.target().einsums[std::size_t(x.node().attribute)];
        const int position = labels.out.label[std::size_t(sum.axis)];
        const int element = labels.out.label[std::size_t(sum.axis) + 1];
        const bool is_a = labels.a.contains(position);
        const EinsumAxes::List& own = is_a ? labels.a : labels.b;
        const EinsumAxes::List& other = is_a ? labels.b : labels.a;
        if (other.contains(position) || own.contains(element)) return {};
        if (sum.stride == 1) return over_windows(sum, x, labels, position, element, is_a);
        return with_positions_innermost(sum, x, labels, position, own, other);
    }

    static std::optional<Tensor> over_windows(const Node& sum, Tensor x, EinsumAxes labels,
                                              int position, int element, bool is_a) {
        const Node product = x.node();
        Tensor a{x.graph, product.inputs[is_a ? 0 : 1]}, b{x.graph, product.inputs[is_a ? 1 : 0]};
        if (a.rank() == Shape::kMaxRank) return {};
        EinsumAxes::List &of_a = is_a ? labels.a : labels.b, &of_b = is_a ? labels.b : labels.a;
        const int along = place_of(of_a, position), elements = place_of(of_b, element);
        const Dim size = sum.shape[sum.axis].without_label();
        const std::int64_t width = b.dim(elements).value();
        const Dim before((width - 1) * sum.dilation);
        a = padded(a, along, before, size - a.dim(along).without_label());
        a = detail::windows_of(a, along, int(width), {.dilation = sum.dilation}, sum.location);
        b = detail::slice_in_steps(b, elements, width - 1, width, -1, sum.location);
        of_a = with_behind(of_a, position, element);
        labels.out = without(labels.out, element);
        labels.pattern = {};
        Tensor y =
            is_a ? einsum(a, b, labels, product.location) : einsum(b, a, labels, product.location);
        y.graph->nodes[std::size_t(y.id)].scope = product.scope;
        return y;
    }

    /// What both have, what the first has, what the second has, then the positions.
    static std::optional<Tensor> with_positions_innermost(const Node& sum, Tensor x,
                                                          EinsumAxes labels, int position,
                                                          const EinsumAxes::List& own,
                                                          const EinsumAxes::List& other) {
        if (x.dim(sum.axis + 1).value() >= kVector) return {};
        const EinsumAxes::List before = labels.out;
        EinsumAxes::List order;
        for (int group = 0; group < 3; ++group)
            for (int i = 0; i < before.count; ++i) {
                const int label = before.label[std::size_t(i)];
                const int its = !other.contains(label) ? 1 : own.contains(label) ? 0 : 2;
                if (its == group && label != position) order.push(label);
            }
        order.push(position);
        labels.out = order;
        labels.pattern = {};
        const Node product = x.node();
        Tensor y = einsum({x.graph, product.inputs[0]}, {x.graph, product.inputs[1]}, labels,
                          product.location);
        y.graph->nodes[std::size_t(y.id)].scope = product.scope;
        FixedArray<signed char, Shape::kMaxRank> back{};
        for (int i = 0; i < before.count; ++i)
            back[std::size_t(i)] = (signed char)place_of(order, before.label[std::size_t(i)]);
        return sum_windows(permute(y, back, sum.location), sum.axis, sum.shape[sum.axis],
                           {sum.stride, sum.dilation});
    }

    const Graph& graph_;
    std::vector<int> readers_;
};

}  // namespace

Graph sum_windows_into_einsum(const Graph& graph) {
    const Merging merging(graph);
    return Rewrite::run(graph,
                        [&](Rewrite& rewrite, int id) { return merging.merged(rewrite, id); });
}

}  // namespace fovea
