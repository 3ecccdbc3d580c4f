// einsum: float64 semantics and gradient, and sums of broadcast products as einsums.
#include "codegen/ops/contraction.h"

#include <string>

#include "codegen/ops/array_loop.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// Drops the axes of x, all of size 1, whose bits are not set in `kept`.
Tensor keep_only(Tensor x, int kept) {
    if (kept == (1 << x.rank()) - 1) return x;
    RearrangeAxes axes = detail::keep_axes(x.shape());
    axes.count = 0;
    for (int i = 0; i < x.rank(); ++i) {
        if (!(kept >> i & 1)) {
            axes.input_group[std::size_t(i)] = 0;
            continue;
        }
        axes.order[std::size_t(axes.count)] = (signed char)axes.count;
        axes.axis[std::size_t(axes.count++)] = x.shape()[i];
    }
    for (int i = axes.count; i < Shape::kMaxRank; ++i) axes.output_group[std::size_t(i)] = -1;
    return rearrange(x, axes, Location::here());
}

/// x with axes of size 1 put in so that it has `rank` axes, its own at the bits of `kept`.
Tensor insert_axes(Tensor x, int kept, int rank) {
    if (kept == (1 << rank) - 1) return x;
    RearrangeAxes axes = detail::keep_axes(x.shape());
    for (int i = 0; i < rank; ++i) axes.output_group[std::size_t(i)] = kept >> i & 1;
    return rearrange(x, axes, Location::here());
}

/// The axes of a shape, right-aligned in `rank` axes, along which it is not repeated.
int axes_of(const Shape& shape, int rank) {
    int bits = 0;
    for (int i = 0; i < shape.rank(); ++i)
        if (!shape[i].is_one()) bits |= 1 << (rank - shape.rank() + i);
    return bits;
}

bool is_subset(int part, int whole) { return (part & ~whole) == 0; }

Tensor multiplied(Tensor product, Tensor factor) {
    return product.exists() ? product * factor : factor;
}

/// The factor without the axes of size 1 that its side of a product lacks.
Tensor on_side(Tensor factor, int rank, int side) {
    int missing = rank - factor.rank();
    return keep_only(factor, (side >> missing) & ((1 << factor.rank()) - 1));
}

/// Σ over `axes` of the product of two sides; the axes stay, with size 1. What one side alone has
/// of them is summed first.
Tensor contract(Tensor a, Tensor b, const ProductSides& sides, int rank, int axes) {
    EinsumAxes labels;
    int kept = (sides.a | sides.b) & ~axes;
    for (int i = 0; i < rank; ++i) {
        if (sides.a >> i & 1) labels.a.push(i);
        if (sides.b >> i & 1) labels.b.push(i);
        if (kept >> i & 1) labels.out.push(i);
    }
    const EinsumAxes::List of_a = labels.a;
    a = detail::sum_alone(a, labels.a, labels.b, labels.out, Location::here());
    b = detail::sum_alone(b, labels.b, of_a, labels.out, Location::here());
    return insert_axes(einsum(a, b, labels, Location::here()), kept, rank);
}

}  // namespace

std::vector<int> factors_of(const Graph& graph, int id) {
    std::vector<int> factors, stack{id};
    while (!stack.empty()) {
        int top = stack.back();
        stack.pop_back();
        const Node& node = graph[top];
        bool is_product = node.op == Op::elementwise && node.function == Elementwise::mul &&
                          node.region == graph[id].region;
        if (is_product) {
            stack.push_back(node.inputs[1]);
            stack.push_back(node.inputs[0]);
        } else {
            factors.push_back(top);
        }
    }
    return factors;
}

std::optional<std::string> why_not_contract(const std::vector<Shape>& factors, int rank, int axes,
                                            ProductSides* sides) {
    std::vector<int> sets;
    for (const Shape& shape : factors) sets.push_back(axes_of(shape, rank));
    ProductSides found;
    for (std::size_t i = 0; i < sets.size() && !found.a; ++i)
        for (std::size_t k = i + 1; k < sets.size() && !found.a; ++k) {
            bool summed = sets[i] & sets[k] & axes;
            if (summed && !is_subset(sets[i], sets[k]) && !is_subset(sets[k], sets[i]))
                found = {sets[i], sets[k]};
        }
    if (!found.a)
        return "no two factors each have an axis that the other lacks: as a reduction it fuses "
               "with "
               "what makes the factors";
    for (int set : sets)
        if (!is_subset(set, found.a) && !is_subset(set, found.b) && (set & axes))
            return "a third factor has axes of both sides and the summed one";
    if (sides) *sides = found;
    return {};
}

std::optional<Tensor> contract_product(const std::vector<Tensor>& factors, int rank, int axes) {
    std::vector<Shape> shapes;
    for (Tensor factor : factors) shapes.push_back(factor.shape());
    ProductSides sides;
    if (why_not_contract(shapes, rank, axes, &sides)) return {};
    Tensor a, b, outside;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        int set = axes_of(shapes[i], rank);
        if (is_subset(set, sides.a)) a = multiplied(a, on_side(factors[i], rank, sides.a));
        else if (is_subset(set, sides.b)) b = multiplied(b, on_side(factors[i], rank, sides.b));
        else outside = multiplied(outside, factors[i]);
    }
    Tensor product = contract(a, b, sides, rank, axes);
    return outside.exists() ? product * outside : product;
}

namespace ops {

namespace {

using Strides = std::vector<std::int64_t>;

std::int64_t stride_of(const EinsumAxes::List& list, const Strides& strides, int label) {
    for (int i = 0; i < list.count; ++i)
        if (list.label[std::size_t(i)] == label) return strides[std::size_t(i)];
    return 0;
}

/// The loops of an einsum: the output's axes, then those that are summed.
struct Loops {
    Strides shape, summed_shape, a, b, summed_a, summed_b;
};

Loops loops_of(const EinsumAxes& axes, const Array& x, const Array& y) {
    Loops loops;
    Strides of_x = strides_of(x.shape), of_y = strides_of(y.shape);
    int seen = 0;
    auto visit = [&](const EinsumAxes::List& list, const Array& array) {
        for (int i = 0; i < list.count; ++i) {
            int label = list.label[std::size_t(i)];
            if (axes.out.contains(label) || seen >> label & 1) continue;
            seen |= 1 << label;
            loops.summed_shape.push_back(array.shape[std::size_t(i)]);
            loops.summed_a.push_back(stride_of(axes.a, of_x, label));
            loops.summed_b.push_back(stride_of(axes.b, of_y, label));
        }
    };
    visit(axes.a, x);
    visit(axes.b, y);
    for (int i = 0; i < axes.out.count; ++i) {
        loops.a.push_back(stride_of(axes.a, of_x, axes.out.label[std::size_t(i)]));
        loops.b.push_back(stride_of(axes.b, of_y, axes.out.label[std::size_t(i)]));
    }
    return loops;
}

void einsum_reference(const Evaluation& e, Array& result) {
    const EinsumAxes& axes = e.graph.einsums[std::size_t(e.node().attribute)];
    const Array &x = *e.inputs[0], &y = *e.inputs[1];
    Loops loops = loops_of(axes, x, y);
    std::int64_t inner = 1, step_a = 0, step_b = 0;
    if (!loops.summed_shape.empty()) {  // the innermost as a plain loop
        inner = loops.summed_shape.back();
        step_a = loops.summed_a.back();
        step_b = loops.summed_b.back();
        loops.summed_shape.pop_back();
        loops.summed_a.pop_back();
        loops.summed_b.pop_back();
    }
    const double *px = x.values.data(), *py = y.values.data();
    double* out = result.values.data();
    for_each_index(
        e.shape, {loops.a, loops.b, {}}, [&](std::int64_t a, std::int64_t b, std::int64_t) {
            double total = 0;
            auto run = [&](std::int64_t at_a, std::int64_t at_b) {
                const double *pa = px + a + at_a, *pb = py + b + at_b;
                for (std::int64_t i = 0; i < inner; ++i) total += pa[i * step_a] * pb[i * step_b];
            };
            if (loops.summed_shape.empty()) run(0, 0);
            else
                for_each_index(
                    loops.summed_shape, {loops.summed_a, loops.summed_b, {}},
                    [&](std::int64_t at_a, std::int64_t at_b, std::int64_t) { run(at_a, at_b); });
            *out++ = total;
        });
}

/// The gradient of the operand with axes `own`, from dy (axes `out`) and the other operand.
Tensor operand_gradient(Tensor dy, const EinsumAxes::List& out, Tensor other,
                        const EinsumAxes::List& others, const EinsumAxes::List& own,
                        const Shape& shape) {
    EinsumAxes axes;
    int kept = 0;
    for (int i = 0; i < own.count; ++i) {
        int label = own.label[std::size_t(i)];
        if (!out.contains(label) && !others.contains(label)) continue;
        axes.out.push(label);
        kept |= 1 << i;
    }
    axes.a = out;
    axes.b = others;
    Tensor gradient = einsum(dy, other, axes, Location::here());
    // An axis that the operand alone has was summed: its gradient is the same all along it.
    return broadcast(insert_axes(gradient, kept, own.count), shape);
}

void einsum_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    EinsumAxes axes = dy.graph->einsums[std::size_t(node.attribute)];
    for (int i = 0; i < 2; ++i) {
        if (!sink.wants(i)) continue;
        Shape shape = sink.input(i).shape();
        const EinsumAxes::List &own = i ? axes.b : axes.a, &others = i ? axes.a : axes.b;
        sink.add(i, operand_gradient(dy, axes.out, sink.input(1 - i), others, own, shape));
    }
}

const EinsumAxes& labels_of(const Graph& graph, const Node& node) {
    return graph.einsums[std::size_t(node.attribute)];
}

AxisUse einsum_axis(const Graph& graph, const Node& node, int operand, int axis) {
    const EinsumAxes& axes = labels_of(graph, node);
    const int label = (operand ? axes.b : axes.a).label[std::size_t(axis)];
    for (int i = 0; i < axes.out.count; ++i)
        if (axes.out.label[std::size_t(i)] == label) return {Along::maps, i};
    return {Along::reduces};
}

/// The axes in front become labels of the operands that change along them.
Tensor einsum_batch(const Batch& b) {
    const EinsumAxes& own = labels_of(b.source, b.node());
    int kept = 0;
    EinsumAxes axes;
    auto operand = [&](int i, const EinsumAxes::List& labels, EinsumAxes::List& to) {
        Tensor x = b.input(i);
        int at = 0;
        for (int k = 0; b.along(i) && k < b.axes; ++k) {
            if (x.shape()[at].is_one()) {
                x = squeeze(x, at);
                continue;
            }
            to.push(k);
            kept |= 1 << k;
            ++at;
        }
        for (int k = 0; k < labels.count; ++k) to.push(labels.label[std::size_t(k)] + b.axes);
        return x;
    };
    Tensor x = operand(0, own.a, axes.a), y = operand(1, own.b, axes.b);
    for (int k = 0; k < b.axes; ++k)
        if (kept >> k & 1) axes.out.push(k);
    for (int k = 0; k < own.out.count; ++k) axes.out.push(own.out.label[std::size_t(k)] + b.axes);
    Tensor result = einsum(x, y, axes, b.node().location);
    for (int k = 0; k < b.axes; ++k)
        if (!(kept >> k & 1)) result = unsqueeze(result, k);
    return result;
}

Tensor einsum_derive(const Derivation& d) {
    return einsum(d.inputs[0], d.inputs[1], labels_of(d.source, d.node), d.node.location);
}

/// Labels are distinct in each list, as many as the operand has axes, of equal sizes; those of the
/// result come from the operands, and what is summed both operands have.
std::optional<std::string> why_no_einsum(const Graph& graph, int id) {
    const EinsumAxes& axes = labels_of(graph, graph[id]);
    const Shape &a = graph[graph[id].inputs[0]].shape, &b = graph[graph[id].inputs[1]].shape;
    if (axes.a.count != a.rank() || axes.b.count != b.rank())
        return "its labels are not its operands' axes";
    std::array<const Dim*, 128> size{};
    for (const EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out}) {
        std::array<bool, 128> seen{};
        for (int i = 0; i < list->count; ++i) {
            int label = list->label[std::size_t(i)];
            if (label < 0 || seen[std::size_t(label)]) return "a label stands twice in one operand";
            seen[std::size_t(label)] = true;
            const Dim*& known = size[std::size_t(label)];
            if (list == &axes.out) {
                if (!known) return "a label of the result is in no operand";
                continue;
            }
            const Dim& dim = (list == &axes.a ? a : b)[i];
            if (known && !(*known == dim)) return "a label has two sizes";
            known = &dim;
        }
    }
    for (const EinsumAxes::List* list : {&axes.a, &axes.b})
        for (int i = 0; i < list->count; ++i) {
            const int label = list->label[std::size_t(i)];
            const EinsumAxes::List& other = list == &axes.a ? axes.b : axes.a;
            if (!axes.out.contains(label) && !other.contains(label))
                return "a label that is summed is in one operand alone";
        }
    return {};
}

std::string einsum_text(const Graph& graph, const Node& node) {
    return "einsum '" + print_axes(labels_of(graph, node)) + "'";
}

}  // namespace

OpDef einsum_def() {
    return {.op = Op::einsum,
            .inputs = {2, 2},
            .attribute = Attribute::einsum,
            .cost = Cost::sums,
            .reference = einsum_reference,
            .gradient = einsum_gradient,
            .axis = einsum_axis,
            .batch = einsum_batch,
            .derive = einsum_derive,
            .why_not_derivable = why_no_einsum,
            .text = einsum_text};
}

}  // namespace ops
}  // namespace fovea
