#include "codegen/graph/print_changes.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "codegen/graph/print.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

/// `x`, `ffn.dense1.weight`, `ffn.dense1.einsum:17`, the second such `ffn.dense1.einsum:17.2`.
class NodeNames {
  public:
    explicit NodeNames(const Graph& graph) : names_(graph.nodes.size()) {
        std::map<std::string, int> used;
        for (int id = 1; id < int(graph.nodes.size()); ++id) {
            std::string name = bare_name(graph, id);
            const int count = ++used[name];
            if (count > 1) name += fmt::format(".{}", count);
            names_[std::size_t(id)] = std::move(name);
        }
    }
    const std::string& operator[](int id) const { return names_[std::size_t(id)]; }

  private:
    static std::string bare_name(const Graph& graph, int id) {
        const Node& node = graph[id];
        if (node.op == Op::parameter) return graph.path(node.scope);
        if (node.op == Op::input) return std::string(node.name);
        if (node.op == Op::output) return "output " + std::string(node.name);
        std::string path = graph.path(graph.scope_of(id));
        const bool is_function = node.op == Op::elementwise;
        path += path.empty() ? "" : ".";
        path += is_function ? row_of(node.function).name : row_of(node.op).name;
        if (node.backward) path += ".backward";
        if (node.recomputed) path += ".again";
        return node.location.line ? fmt::format("{}:{}", path, node.location.line) : path;
    }

    std::vector<std::string> names_;
};

/// The lines of a graph and of the steps of its scans.
void write_lines(const Graph& graph, const std::string& place, std::vector<std::string>& lines) {
    const NodeNames names(graph);
    std::set<const ScanFunction*> written;
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        if (is_scan(graph, id) && written.insert(scan_of(graph, id).function).second)
            write_lines(scan_of(graph, id).function->step, place + "step of " + names[id] + ": ",
                        lines);
        std::string inputs;
        for (int input : node.inputs)
            if (input >= 0) inputs += (inputs.empty() ? "" : ", ") + names[input];
        if (!inputs.empty()) inputs = " (" + inputs + ")";
        Text shape;
        shape << node.shape;
        lines.push_back(fmt::format("{}{} = {}{} : {} {}", place, names[id], print_op(graph, id),
                                    inputs, name_of(node.dtype), shape.view()));
    }
}

/// The lines that the other graph has fewer of, marked.
int write_missing(const std::vector<std::string>& lines, const std::vector<std::string>& others,
                  char mark, std::string& text) {
    std::map<std::string_view, int> left;
    for (const std::string& line : others) ++left[line];
    int missing = 0;
    for (const std::string& line : lines) {
        if (left[line]-- > 0) continue;
        text += fmt::format("{} {}\n", mark, line);
        ++missing;
    }
    return missing;
}

}  // namespace

std::string print_changes(const Graph& before, const Graph& after) {
    std::vector<std::string> old_lines, new_lines;
    write_lines(before, "", old_lines);
    write_lines(after, "", new_lines);
    std::string text;
    const int gone = write_missing(old_lines, new_lines, '-', text);
    const int come = write_missing(new_lines, old_lines, '+', text);
    if (!gone && !come) return "unchanged\n";
    return text +
           fmt::format("{} gone, {} come, {} stay\n", gone, come, int(new_lines.size()) - come);
}

}  // namespace fovea
