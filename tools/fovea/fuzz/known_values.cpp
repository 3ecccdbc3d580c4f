#include "tools/fovea/fuzz/known_values.h"

#include "codegen/graph/id_operands.h"
#include "codegen/reference/error_bounds.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool::fuzz {

namespace {

DimSizes by_symbol(const SampleDims& sizes) {
    DimSizes result;
    for (const auto& [name, size] : sizes) result[Symbol(name)] = size;
    return result;
}

bool is_result(const Node& node) { return node.op == Op::output && !is_check(node); }

/// The nodes that the outputs depend on, as far as their values are not known.
std::vector<int> unknown_nodes(const Graph& graph, const std::vector<int>& keys,
                               const std::map<int, Bounded>& known) {
    std::vector<bool> wanted(graph.nodes.size(), false);
    std::vector<int> nodes;
    for (int id = int(graph.nodes.size()); id-- > 1;) {
        const bool is_wanted = wanted[std::size_t(id)] || is_result(graph[id]);
        if (!is_wanted || known.contains(keys[std::size_t(id)])) continue;
        nodes.push_back(id);
        for (int input : graph[id].inputs)
            if (input > 0) wanted[std::size_t(input)] = true;
    }
    return nodes;
}

}  // namespace

KnownValues::KnownValues(const SampleDims& sizes, Values values, const InterpreterOptions& options,
                         double unit)
    : sizes_(sizes),
      values_(std::move(values)),
      options_(options),
      unit_(unit),
      keys_(by_symbol(sizes)) {}

void KnownValues::each_new_output(
    const Graph& graph,
    const std::function<void(const std::string& name, const Bounded& value)>& visit) {
    std::set<std::string> fresh;
    const std::vector<int> given = keys_.of(graph);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const std::string name(graph[id].name);
        if (is_result(graph[id]) && visited_.emplace(name, given[std::size_t(id)]).second)
            fresh.insert(name);
    }
    if (fresh.empty()) return;
    Interpreter interpreter(graph, options_);
    const Graph& run = interpreter.graph();
    const std::vector<int> keys = keys_.of(run);
    compute(interpreter, keys);
    for (int id = 1; id < int(run.nodes.size()); ++id)
        if (is_result(run[id]) && fresh.contains(std::string(run[id].name)))
            visit(std::string(run[id].name), known_.at(keys[std::size_t(id)]));
}

void KnownValues::compute(Interpreter& interpreter, const std::vector<int>& keys) {
    const std::vector<int> nodes = unknown_nodes(interpreter.graph(), keys, known_);
    if (nodes.empty()) return;
    set_all(interpreter, sizes_, values_);
    ErrorBounds bounds(interpreter, unit_);
    std::map<int, Array> given;
    for (int id : nodes)
        for (int input : interpreter.graph()[id].inputs) {
            if (input <= 0) continue;
            const auto found = known_.find(keys[std::size_t(input)]);
            if (found == known_.end()) continue;
            given[input] = found->second.value;
            bounds.assume(input, found->second.bound);
        }
    interpreter.assume(given);
    for (int id : nodes) known_[keys[std::size_t(id)]] = {interpreter.value(id), bounds.of(id)};
}

}  // namespace fovea::tool::fuzz
