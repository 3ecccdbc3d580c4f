// einsum: every linear layer, every product of attention.
#pragma once

#include <array>
#include <optional>
#include <span>
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

/// The operands of an einsum at most.
inline constexpr std::size_t kMostFactors = 4;

/// A pattern's axes as labels, by operand.
struct EinsumReader {
    const ParsedPattern& pattern;
    std::span<const Tensor> operands;
    std::array<EinsumAxes::List, kMostFactors> of_operand{};
    EinsumAxes::List out{};
    std::array<Symbol, kMostFactors * Shape::kMaxRank> names{};
    std::array<signed char, kMostFactors * Shape::kMaxRank> first{};  // operand that has it
    int count = 0;
    Text why{};

    constexpr int label_of(Symbol name) const {
        for (int i = 0; i < count; ++i)
            if (names[std::size_t(i)] == name) return i;
        return -1;
    }
    /// The size of a label in an operand that has it.
    constexpr const Dim& size_in(std::size_t operand, int label) const {
        int axis = 0;
        while (of_operand[operand].label[std::size_t(axis)] != label) ++axis;
        return operands[operand].shape()[axis];
    }
    constexpr void read_axis(std::size_t operand, Symbol name) {
        EinsumAxes::List& list = of_operand[operand];
        const Dim& dim = operands[operand].shape()[list.count];
        int label = label_of(name);
        if (label < 0) {
            label = count;
            first[std::size_t(count)] = (signed char)operand;
            names[std::size_t(count++)] = name;
        } else if (list.contains(label)) {
            why << "axis " << name << " stands twice in one operand";
        } else {
            const auto other = std::size_t(first[std::size_t(label)]);
            if (const Dim& size = size_in(other, label); !fits(size, dim))
                why << "axis " << name << " is " << size << " in " << operands[other].shape()
                    << " but " << dim << " in " << operands[operand].shape();
        }
        list.push(label);
    }
    constexpr void check_ranks() {
        std::size_t there = 1;
        for (int i = 0; i < pattern.arrow(); ++i) {
            there += pattern.tokens[i].kind == PatternToken::Kind::comma;
            check_token(pattern.tokens[i]);
        }
        if (!why.size() && there != operands.size())
            why << "the pattern has " << int(there) << " operands, and it is given "
                << int(operands.size());
        for (std::size_t i = 0; i < operands.size() && !why.size(); ++i)
            if (pattern.rank(int(i)) != operands[i].rank())
                why << "the pattern does not have the rank of operand " << int(i + 1) << ", "
                    << operands[i].shape()
                    << " (its axes are names with blanks between them, or single letters)";
    }
    constexpr void read() {
        check_ranks();
        int i = 0;
        std::size_t operand = 0;
        for (; i < pattern.arrow() && !why.size(); ++i) {
            const PatternToken& token = pattern.tokens[i];
            if (token.kind == PatternToken::Kind::comma) ++operand;
            else read_axis(operand, token.name);
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
        if (out.contains(label)) why << "axis " << token.name << " stands twice on the right";
        else push(out, label);
    }
    constexpr void push(EinsumAxes::List& list, int label) {
        if (list.count < Shape::kMaxRank) list.push(label);
        else if (!why.size()) why << "a tensor has at most " << Shape::kMaxRank << " axes";
    }
    /// What the product of two operands must keep: labels of later operands, from `next` on, and of
    /// the result.
    constexpr EinsumAxes::List kept(const EinsumAxes::List& a, const EinsumAxes::List& b,
                                    std::size_t next) {
        EinsumAxes::List list;
        for (const EinsumAxes::List* side : {&a, &b})
            for (int i = 0; i < side->count; ++i) {
                const int label = side->label[std::size_t(i)];
                bool is_read = out.contains(label);
                for (std::size_t k = next; k < operands.size(); ++k)
                    is_read = is_read || of_operand[k].contains(label);
                if (is_read && !list.contains(label)) push(list, label);
            }
        return list;
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

/// x with its axes in the order of the result, summed over the others.
constexpr Tensor einsum_of_one(Tensor x, EinsumAxes::List list, const EinsumAxes::List& out,
                               Location location) {
    x = sum_alone(x, list, {}, out, location);
    FixedArray<signed char, Shape::kMaxRank> order{};
    for (int i = 0; i < out.count; ++i)
        for (int k = 0; k < list.count; ++k)
            if (list.label[std::size_t(k)] == out.label[std::size_t(i)])
                order[std::size_t(i)] = (signed char)k;
    return permute(x, order, location);
}

/// The product of the operands one after the other.
constexpr Tensor einsum_of_labels(EinsumReader& reader, std::string_view pattern,
                                  Location location) {
    const std::span<const Tensor> operands = reader.operands;
    Tensor product = operands[0];
    EinsumAxes::List list = reader.of_operand[0];
    if (operands.size() == 1) return einsum_of_one(product, list, reader.out, location);
    for (std::size_t k = 1; k < operands.size() && !reader.why.size(); ++k) {
        const bool is_last = k + 1 == operands.size();
        EinsumAxes axes{.a = list, .b = reader.of_operand[k]};
        axes.out = is_last ? reader.out : reader.kept(axes.a, axes.b, k + 1);
        if (is_last) axes.pattern = pattern;
        product = sum_alone(product, axes.a, axes.b, axes.out, location);
        Tensor next = sum_alone(operands[k], axes.b, list, axes.out, location);
        if (!reader.why.size()) product = einsum(product, next, axes, location);
        list = axes.out;
    }
    return product;
}

constexpr Tensor einsum_of(const Pattern& pattern, std::span<const Tensor> operands,
                           Location location) {
    Graph& graph = *operands[0].graph;
    const int second = operands.size() > 1 ? operands[1].rank() : 0;
    const ParsedPattern& parsed = read_pattern(pattern, operands[0].rank(), second);
    EinsumReader reader{parsed, operands};
    int scope = graph.scope_of(operands[0].id);
    for (const Tensor& operand : operands) {
        scope = graph.common_scope(scope, graph.scope_of(operand.id));
        if (reader.why.size() ||
            (operand.dtype() == operands[0].dtype() && is_float(operand.dtype())))
            continue;
        reader.why << "expected operands of one type, f32, bf16 or f16, got";
        for (const Tensor& each : operands) reader.why << " " << name_of(each.dtype());
    }
    if (!reader.why.size() && parsed.mistake != PatternMistake::none)
        reader.why << text_of(parsed.mistake);
    if (!reader.why.size()) reader.read();
    Tensor result;
    if (!reader.why.size()) result = einsum_of_labels(reader, pattern.text, location);
    if (!reader.why.size()) return result;
    Text text;
    text << "einsum '" << pattern.text << "': " << reader.why.view();
    return fail(graph, location, scope, text);
}

}  // namespace detail

/// Σ over the axes that the right side lacks: `einsum("b q d, b k d -> b q k", q, k)`. Up to four
/// operands are multiplied from left to right, each product summed over the axes that nothing
/// behind it has.
constexpr Tensor einsum(const Pattern& pattern, Tensor a, Tensor b,
                        Location location = Location::here()) {
    if (!is_usable("einsum", location, {a, b})) return poison_of({a, b});
    return detail::einsum_of(pattern, std::array{a, b}, location);
}
constexpr Tensor einsum(const Pattern& pattern, Tensor x, Location location = Location::here()) {
    if (!is_usable("einsum", location, {x})) return poison_of({x});
    return detail::einsum_of(pattern, std::array{x}, location);
}
constexpr Tensor einsum(const Pattern& pattern, Tensor a, Tensor b, Tensor c,
                        Location location = Location::here()) {
    if (!is_usable("einsum", location, {a, b, c})) return poison_of({a, b, c});
    return detail::einsum_of(pattern, std::array{a, b, c}, location);
}
constexpr Tensor einsum(const Pattern& pattern, Tensor a, Tensor b, Tensor c, Tensor d,
                        Location location = Location::here()) {
    if (!is_usable("einsum", location, {a, b, c, d})) return poison_of({a, b, c, d});
    return detail::einsum_of(pattern, std::array{a, b, c, d}, location);
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
