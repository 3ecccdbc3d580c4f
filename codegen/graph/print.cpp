// Text of nodes, their attributes and their places.
#include "codegen/graph/print.h"

#include <fmt/format.h>

#include <set>

#include "codegen/graph/op_def.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

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

std::string origin(const Graph& graph, const Node& node) {
    std::string text = node.op == Op::parameter ? "" : graph.path(node.scope);
    if (node.location.line)
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node.location.file_name(),
                            node.location.line);
    if (node.backward) text += text.empty() ? "backward" : " backward";
    if (node.recomputed) text += text.empty() ? "again" : " again";
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

std::string dim_text(const Dim& dim) {
    Text text;
    text << dim;
    return std::string(text.view());
}

std::string number_text(double value) { return fmt::format("{:.9g}", value); }

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
                    ", " + letter(at) + "=" + dim_text(axes.axis[std::size_t(at)].without_label());
    return text;
}

std::string print_op(const Graph& graph, int id) {
    const Node& node = graph[id];
    const OpDef& def = op_def(node.op);
    return def.text ? def.text(graph, node) : std::string(row_of(node.op).name);
}

std::string print_node(const Graph& graph, int id) {
    const Node& node = graph[id];
    std::string inputs;
    for (int input : node.inputs)
        if (input >= 0) inputs += fmt::format("{}%{}", inputs.empty() ? "" : ", ", input);
    if (!inputs.empty()) inputs = " (" + inputs + ")";
    Text shape;
    shape << node.shape;
    return fmt::format("%{} = {}{} : {} {}{}", id, print_op(graph, id), inputs, name_of(node.dtype),
                       shape.view(), origin(graph, node));
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
