// Text of nodes, their attributes and their places.
#include "codegen/graph/print.h"

#include <fmt/format.h>

#include <set>

#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

template <class T>
std::string text_of(const T& value) {
    Text text;
    text << value;
    return std::string(text.view());
}

std::string letter(int label) {
    return label < 26 ? std::string(1, char('a' + label)) : fmt::format("a{}", label);
}

std::string letters(const EinsumAxes::List& list) {
    std::string text;
    for (int i = 0; i < list.count; ++i)
        text += (i ? " " : "") + letter(list.label[std::size_t(i)]);
    return text;
}

/// One side of a rearrangement: `a (b c) 1`.
template <class NumberOf>
std::string side(const FixedArray<signed char, Shape::kMaxRank>& groups, NumberOf number_of) {
    std::string text;
    int at = 0;
    for (std::size_t g = 0; g < groups.size() && groups[g] >= 0; ++g) {
        std::string group;
        for (int i = 0; i < groups[g]; ++i) group += (i ? " " : "") + letter(number_of(at++));
        if (groups[g] == 0) group = "1";
        if (groups[g] > 1) group = "(" + group + ")";
        text += (g ? " " : "") + group;
    }
    return text;
}

std::string number_text(double value) { return fmt::format("{:.9g}", value); }

std::string reduced_axes(int bits) {
    std::string text;
    for (int i = 0; i < Shape::kMaxRank; ++i)
        if (bits >> i & 1) text += (text.empty() ? "" : ",") + std::to_string(i);
    return text;
}

std::string mask_text(const Graph& graph, const Node& node) {
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    std::string text;
    if (attributes.causal) text += " causal";
    if (attributes.has_lens) text += " lens";
    if (attributes.has_allowed) text += " allowed";
    if (node.masked_rows == MaskedRows::zero) text += " masked_rows=zero";
    if (node.op == Op::attention) text += fmt::format(" score=%{}", attributes.score);
    if (attributes.dropout > 0)
        text +=
            fmt::format(" dropout={} site={}", number_text(attributes.dropout), attributes.site);
    return text;
}

std::string scan_text(const Graph& graph, const Node& node) {
    const ScanAttributes& scan = graph.scans[std::size_t(node.attribute)];
    std::string text = " steps=" + text_of(scan.steps.without_label());
    if (scan.reverse) text += " reverse";
    if (!scan.function) return text + (node.axis == int(StepPart::state) ? " state" : " result");
    const int states = scan.function->states;
    return text + (node.axis < states ? fmt::format(" state {}", node.axis)
                                      : fmt::format(" result {}", node.axis - states));
}

std::string attributes_text(const Graph& graph, const Node& node) {
    constexpr std::string_view parts[]{"query", "key", "batch", "head", "query_index", "key_index"};
    constexpr std::string_view results[]{"output",       "statistics",     "query gradient",
                                         "key gradient", "value gradient", "capture gradient"};
    switch (node.op) {
        case Op::input:
        case Op::output: return fmt::format(" {}", node.name);
        case Op::parameter: return " " + graph.path(node.scope);
        case Op::constant: return " " + number_text(node.value);
        case Op::extent: return " " + text_of(node.dim);
        case Op::pair: return fmt::format(" {}", parts[std::size_t(node.part)]);
        case Op::iota:
        case Op::softmax:
        case Op::concat: return fmt::format(" axis={}", node.axis);
        case Op::slice: return fmt::format(" axis={} first={}", node.axis, text_of(node.dim));
        case Op::random:
        case Op::dropout: return fmt::format(" p={} site={}", number_text(node.value), node.site);
        case Op::layer_norm:
        case Op::batch_norm:
            return fmt::format(" axis={} eps={}", node.axis, number_text(node.value));
        case Op::smoothed_cross_entropy:
            return fmt::format(" padding={} smoothing={}", node.axis, number_text(node.value));
        case Op::scatter_add: return " rows=" + text_of(node.dim);
        case Op::fused_attention:
            return fmt::format(" {}", results[std::size_t(node.result)]) + mask_text(graph, node);
        case Op::step: return node.axis == int(StepPart::state) ? " state" : " value";
        case Op::scan: return scan_text(graph, node);
        case Op::masked_softmax:
        case Op::attention: return mask_text(graph, node);
        case Op::einsum: return " '" + print_axes(graph.einsums[std::size_t(node.attribute)]) + "'";
        case Op::rearrange:
            return " '" + print_axes(graph.rearranges[std::size_t(node.attribute)]) + "'";
        default: return "";
    }
}

std::string origin(const Graph& graph, const Node& node) {
    std::string text = node.op == Op::parameter ? "" : graph.path(node.scope);
    if (node.location.line)
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node.location.file_name(),
                            node.location.line);
    if (node.backward) text += text.empty() ? "backward" : " backward";
    return text.empty() ? text : "  # " + text;
}

}  // namespace

namespace {

std::string indented(const Graph& step) {
    std::string text = "    ";
    for (char c : print(step)) text += c == '\n' ? "\n    " : std::string(1, c);
    text.resize(text.size() - 4);
    return text;
}

}  // namespace

std::string print_axes(const EinsumAxes& axes) {
    return letters(axes.a) + ", " + letters(axes.b) + " -> " + letters(axes.out);
}

std::string print_axes(const RearrangeAxes& axes) {
    std::string text = side(axes.input_group, [](int i) { return i; }) + " -> " +
                       side(axes.output_group, [&](int i) { return axes.order[std::size_t(i)]; });
    int at = 0;
    for (std::size_t g = 0; g < axes.input_group.size() && axes.input_group[g] >= 0; ++g)
        for (int i = 0; i < axes.input_group[g]; ++i, ++at)
            if (axes.input_group[g] > 1)
                text +=
                    ", " + letter(at) + "=" + text_of(axes.axis[std::size_t(at)].without_label());
    return text;
}

std::string print_op(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op == Op::elementwise) {
        bool is_cast = node.function == Elementwise::identity;
        return is_cast ? fmt::format("cast {}", name_of(node.dtype))
                       : std::string(row_of(node.function).name);
    }
    if (node.op == Op::reduce)
        return fmt::format("{} axes={}", node.reduction == Reduction::sum ? "sum" : "max",
                           reduced_axes(node.axis));
    return std::string(row_of(node.op).name) + attributes_text(graph, node);
}

std::string print_node(const Graph& graph, int id) {
    const Node& node = graph[id];
    std::string inputs;
    for (int input : node.inputs)
        if (input >= 0) inputs += fmt::format("{}%{}", inputs.empty() ? "" : ", ", input);
    if (!inputs.empty()) inputs = " (" + inputs + ")";
    return fmt::format("%{} = {}{} : {} {}{}", id, print_op(graph, id), inputs, name_of(node.dtype),
                       text_of(node.shape), origin(graph, node));
}

std::string print(const Graph& graph) {
    std::string text;
    std::set<const ScanFunction*> printed;
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        if (graph[id].region) text += fmt::format("    [score {}] ", graph[id].region);
        if (is_scan(graph, id) && printed.insert(scan_of(graph, id).function).second)
            text += "step of the scan below:\n" + indented(scan_of(graph, id).function->step);
        text += print_node(graph, id) + "\n";
    }
    return text;
}

}  // namespace fovea
