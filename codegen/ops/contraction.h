// einsum of two operands: every linear layer, every product of attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/tensor.h"
#include "codegen/ops/pattern.h"
#include "codegen/ops/reduction.h"

namespace fovea {

namespace detail {

/// By the rank of x: the labels of x·Wᵀ over the last axis.
struct LinearAxes {
    EinsumAxes of_rank[Shape::kMaxRank + 1]{};
};
inline constexpr LinearAxes kLinearAxes = [] {
    LinearAxes linear;
    for (int rank = 1; rank <= Shape::kMaxRank; ++rank) {
        EinsumAxes& axes = linear.of_rank[rank];
        for (int i = 0; i < rank; ++i) axes.a.push(i);
        axes.b.push(rank);
        axes.b.push(rank - 1);
        for (int i = 0; i < rank - 1; ++i) axes.out.push(i);
        axes.out.push(rank);
    }
    return linear;
}();

constexpr Tensor make_einsum(Tensor a, Tensor b, const EinsumAxes& axes, const Shape& shape,
                             Location location) {
    Graph& graph = *a.graph;
    const int attribute = int(graph.einsums.size());
    graph.einsums.push_back(axes);
    return {&graph, graph.add({.op = Op::einsum,
                               .dtype = a.dtype(),
                               .shape = shape,
                               .inputs = inputs_of({a.id, b.id}),
                               .location = location,
                               .attribute = attribute})};
}

}  // namespace detail

/// The contraction with these axis labels; the caller has checked that sizes of a label fit.
constexpr Tensor einsum(Tensor a, Tensor b, const EinsumAxes& axes, Location location) {
    if (a.is_poison() || b.is_poison()) return {a.graph, 0};
    Shape shape;
    for (int i = 0; i < axes.out.count; ++i) {
        int label = axes.out.label[std::size_t(i)];
        for (int k = 0; k < axes.a.count + axes.b.count; ++k) {
            bool in_a = k < axes.a.count;
            int at = in_a ? k : k - axes.a.count;
            if ((in_a ? axes.a : axes.b).label[std::size_t(at)] != label) continue;
            shape.push((in_a ? a : b).shape()[at]);
            break;
        }
    }
    return detail::make_einsum(a, b, axes, shape, location);
}

namespace detail {

struct EinsumReader {
    const ParsedPattern& pattern;
    Tensor a, b;
    EinsumAxes axes{};
    std::array<Symbol, 2 * Shape::kMaxRank> names{};
    std::array<Dim, 2 * Shape::kMaxRank> sizes{};
    int count = 0;
    Text why{};

    constexpr int label_of(Symbol name) const {
        for (int i = 0; i < count; ++i)
            if (names[std::size_t(i)] == name) return i;
        return -1;
    }
    constexpr void read_axis(EinsumAxes::List& list, Tensor x, Symbol name) {
        const Dim& dim = x.shape()[list.count];
        int label = label_of(name);
        if (label < 0) {
            label = count;
            names[std::size_t(count)] = name;
            sizes[std::size_t(count++)] = dim;
        } else if (list.contains(label)) {
            why << "axis " << name << " stands twice in one operand";
        } else if (!fits(sizes[std::size_t(label)], dim)) {
            why << "axis " << name << " is " << sizes[std::size_t(label)] << " in " << a.shape()
                << " but " << dim << " in " << b.shape();
        }
        list.push(label);
    }
    constexpr void rank_mistake(int operand, Tensor x) {
        why << "the pattern does not have the rank of operand " << operand << ", " << x.shape()
            << " (its axes are names with blanks between them, or single letters)";
    }
    constexpr void read() {
        int operands = 1;
        for (int i = 0; i < pattern.arrow(); ++i) {
            operands += pattern.tokens[i].kind == PatternToken::Kind::comma;
            check_token(pattern.tokens[i]);
        }
        if (!why.size() && operands != 2) why << "einsum takes two operands, not " << operands;
        if (!why.size() && pattern.rank(0) != a.rank()) rank_mistake(1, a);
        if (!why.size() && pattern.rank(1) != b.rank()) rank_mistake(2, b);
        int i = 0, operand = 1;
        for (; i < pattern.arrow() && !why.size(); ++i) {
            const PatternToken& token = pattern.tokens[i];
            if (token.kind == PatternToken::Kind::comma) ++operand;
            else read_axis(operand == 1 ? axes.a : axes.b, operand == 1 ? a : b, token.name);
        }
        for (++i; i < pattern.count && !why.size(); ++i) read_result(pattern.tokens[i]);
    }
    constexpr void check_token(const PatternToken& token) {
        if (why.size()) return;
        if (token.kind == PatternToken::Kind::open) why << "einsum has no groups";
        else if (token.kind == PatternToken::Kind::axis && !token.name)
            why << "einsum has no axes 1: squeeze the operand";
    }
    constexpr void read_result(const PatternToken& token) {
        check_token(token);
        if (token.kind == PatternToken::Kind::comma) why << "einsum has one result";
        if (why.size()) return;
        const int label = label_of(token.name);
        if (axes.out.contains(label)) why << "axis " << token.name << " stands twice on the right";
        else if (axes.out.count == Shape::kMaxRank)
            why << "a tensor has at most " << Shape::kMaxRank << " axes";
        else axes.out.push(label);
    }
};

/// x summed over the axes that neither the other operand nor the result has; `list` loses them.
constexpr Tensor sum_alone(Tensor x, EinsumAxes::List& list, const EinsumAxes::List& other,
                           const EinsumAxes::List& out, Location location) {
    EinsumAxes::List kept;
    for (int i = 0; i < list.count; ++i) {
        int label = list.label[std::size_t(i)];
        if (other.contains(label) || out.contains(label)) kept.push(label);
        else x = sum(x, kept.count, false, location);
    }
    list = kept;
    return x;
}

}  // namespace detail

/// Σ over the axes that the right side lacks: `einsum("b q d, b k d -> b q k", q, k)`.
constexpr Tensor einsum(const Pattern& pattern, Tensor a, Tensor b,
                        Location location = Location::here()) {
    if (!is_usable("einsum", location, {a, b})) return poison_of({a, b});
    Graph& graph = *a.graph;
    const ParsedPattern& parsed = read_pattern(pattern, a.rank(), b.rank());
    detail::EinsumReader reader{parsed, a, b};
    reader.axes.pattern = pattern.text;
    if (a.dtype() != b.dtype() || !is_float(a.dtype()))
        reader.why << "expected two operands of f32 or of bf16, got " << name_of(a.dtype())
                   << " and " << name_of(b.dtype());
    else if (parsed.mistake != PatternMistake::none) reader.why << text_of(parsed.mistake);
    else reader.read();
    if (reader.why.size()) {
        Text text;
        text << "einsum '" << pattern.text << "': " << reader.why.view();
        return fail(graph, location, graph.common_scope(graph.scope_of(a.id), graph.scope_of(b.id)),
                    text);
    }
    EinsumAxes& axes = reader.axes;
    const EinsumAxes::List of_a = axes.a;
    a = detail::sum_alone(a, axes.a, axes.b, axes.out, location);
    b = detail::sum_alone(b, axes.b, of_a, axes.out, location);
    return einsum(a, b, axes, location);
}

/// The axes (bits) of the two operands that the factors of a product are gathered in.
struct ProductSides {
    int a = 0, b = 0;
};
/// Why Σ over `axes` of a product is not worth an einsum; nothing when it is. `rank`: the
/// product's.
std::optional<std::string> why_not_contract(const std::vector<Shape>& factors, int rank, int axes,
                                            ProductSides* sides = nullptr);
/// Σ of a product of any number of factors, as einsum: factors that depend on one side alone go to
/// that side, those without the summed axes outside. Nothing when `why_not_contract`.
std::optional<Tensor> contract_product(const std::vector<Tensor>& factors, int rank, int axes);
/// The factors of a product of products: nodes of the same region that are no products themselves.
std::vector<int> factors_of(const Graph& graph, int id);

/// x·Wᵀ over the last axis: x [..., in], weight [out, in] → [..., out].
constexpr Tensor linear_product(Tensor x, Tensor weight, Location location = Location::here()) {
    if (!is_usable("linear", location, {x, weight})) return poison_of({x, weight});
    const Node &of_x = x.node(), &of_weight = weight.node();
    if (!of_x.shape.rank() || of_weight.shape.rank() != 2 ||
        !of_x.shape[-1].fits(of_weight.shape[1]) || !is_float(of_x.dtype) ||
        of_x.dtype != of_weight.dtype) {
        Text text;
        text << "linear: " << name_of(x.dtype()) << " " << x.shape();
        x.graph->write_origin(text, x.id);
        text << " does not match the weight " << name_of(weight.dtype()) << " " << weight.shape();
        weight.graph->write_origin(text, weight.id);
        return fail(*x.graph, location, x.graph->scope_of(x.id), text);
    }
    const EinsumAxes& axes = detail::kLinearAxes.of_rank[x.rank()];
    Shape shape = x.shape();
    shape[-1] = weight.shape()[0];
    return detail::make_einsum(x, weight, axes, shape, location);
}

}  // namespace fovea
