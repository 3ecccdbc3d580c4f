// Graphviz text: modules are clusters, leaves are boxes without a frame.
#include "codegen/graph/print_dot.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "codegen/graph/print.h"

namespace fovea {

namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string shape_text(const Node& node) {
    Text text;
    text << name_of(node.dtype) << " " << node.shape;
    return std::string(text.view());
}

std::string node_text(const Graph& graph, int id) {
    const Node& node = graph[id];
    bool leaf = row_of(node.op).op_class == OpClass::leaf;
    bool composite = row_of(node.op).op_class == OpClass::composite;
    return fmt::format("n{} [label=\"{}\\n{}\"{}{}];\n", id, escaped(print_op(graph, id)),
                       escaped(shape_text(node)), leaf ? ", style=rounded" : "",
                       composite       ? ", penwidth=2"
                       : node.backward ? ", color=gray"
                                       : "");
}

/// The module that a node stands in: a parameter's own scope is its leaf name.
int module_of(const Graph& graph, const Node& node) {
    return node.op == Op::parameter ? graph.scope(node.scope).parent : node.scope;
}

}  // namespace

std::string print_dot(const Graph& graph) {
    std::map<std::string, std::vector<int>> modules;
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        modules[graph.path(module_of(graph, graph[id]))].push_back(id);
    std::string text = "digraph model {\nnode [shape=box, fontname=Helvetica];\n";
    int cluster = 0;
    for (const auto& [path, ids] : modules) {
        if (!path.empty())
            text +=
                fmt::format("subgraph cluster_{} {{\nlabel=\"{}\";\n", cluster++, escaped(path));
        for (int id : ids) text += node_text(graph, id);
        if (!path.empty()) text += "}\n";
    }
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        for (int input : graph[id].inputs)
            if (input > 0) text += fmt::format("n{} -> n{};\n", input, id);
    return text + "}\n";
}

}  // namespace fovea
