// The step of a scan as a graph of its own, and the nodes that hold it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/graph/ports.h"
#include "codegen/graph/tensor.h"

namespace fovea {

/// One step. Inputs of `step`, by their ports: values (a slice of each sequence), states, and
/// captures, what the step reads from outside. Outputs: next states (after it) and results. A node
/// of Op::scan has the sequences, the initial states and the captures as its
/// inputs, in this order.
struct ScanFunction {
    Graph step;
    int sequences = 0, states = 0, captures = 0, results = 0;
    bool reverse = false;  // from the last step to the first

    int inputs() const { return sequences + states + captures; }
};

/// A function that lives as long as the program, for nodes to point to.
const ScanFunction* keep(ScanFunction function);

/// All values of state `number`, [steps + 1, …]: the initial one at 0, or, in reverse, at `steps`;
/// and results 0, 1, … of all steps, [steps, …], which are numbered after the states. UserError for
/// a step that reads more than a node can.
Tensor make_scan(Graph& graph, const ScanFunction* function, const Dim& steps,
                 const std::vector<Tensor>& inputs, int number);

/// Whether two nodes are results of the same loop.
bool is_same_scan(const Graph& graph, int a, int b);
inline const ScanAttributes& scan_of(const Graph& graph, int id) {
    return graph.scans[std::size_t(graph[id].attribute)];
}
/// Whether a node is a sealed scan: it has its function.
inline bool is_scan(const Graph& graph, int id) {
    return graph[id].op == Op::scan && scan_of(graph, id).function;
}
bool has_scans(const Graph& graph);
/// The output of a step that is result `number` of its scan: a state after it, then its results.
inline Port port_of_result(const ScanFunction& function, int number) {
    const bool state = number < function.states;
    return {state ? Role::next : Role::result, state ? number : number - function.states};
}

/// Takes the steps of all scans out of the graph that they were traced in. Every pass comes after.
Graph seal_scans(const Graph& graph);

/// The graph with the steps of its scans (and of those inside them) passed through `pass`, which
/// keeps their inputs and outputs.
Graph on_steps(const Graph& graph, const std::function<Graph(const Graph&)>& pass);

/// Random factors are drawn for all steps before the loop, each step its own.
Graph draw_ahead(const Graph& graph);

}  // namespace fovea
