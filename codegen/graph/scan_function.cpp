// Names, nodes and passes of sealed scans.
#include "codegen/graph/scan_function.h"

#include <deque>
#include <map>
#include <mutex>

#include "codegen/graph/op_def.h"
#include "codegen/graph/rewrite.h"

namespace fovea {

const ScanFunction* keep(ScanFunction function) {
    static std::mutex mutex;
    static std::deque<ScanFunction> kept;
    std::lock_guard<std::mutex> lock(mutex);
    kept.push_back(std::move(function));
    return &kept.back();
}

Tensor make_scan(Graph& graph, const ScanFunction* function, const Dim& steps,
                 const std::vector<Tensor>& inputs, int number) {
    if (int(inputs.size()) != function->inputs())
        throw InternalError("a scan is given other inputs than its step has");
    bool state = number < function->states;
    const Node& value =
        function->step[find_output(function->step, port_of_result(*function, number))];
    Node node{.op = Op::scan,
              .dtype = value.dtype,
              .scope = value.scope,
              .location = value.location,
              .axis = number};
    if (inputs.size() > kMaxInputs) {
        Text text;
        text << "scan: a step reads " << int(inputs.size())
             << " sequences, states and values from outside, " << int(kMaxInputs)
             << " are possible: make several scans of it";
        graph.fail(node.location, node.scope, text);
    }
    node.shape.push(state ? steps.without_label() + 1 : steps);
    for (const Dim& dim : value.shape) node.shape.push(dim);
    for (std::size_t i = 0; i < inputs.size(); ++i) node.inputs[i] = inputs[i].id;
    node.attribute = int(graph.scans.size());
    graph.scans.push_back({.steps = steps, .reverse = function->reverse, .function = function});
    return make(graph, node);
}

bool is_same_scan(const Graph& graph, int a, int b) {
    return is_scan(graph, a) && is_scan(graph, b) && graph[a].inputs == graph[b].inputs &&
           graph[a].recomputed == graph[b].recomputed &&
           scan_of(graph, a).function == scan_of(graph, b).function;
}

bool has_scans(const Graph& graph) {
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (is_scan(graph, id)) return true;
    return false;
}

Graph on_steps(const Graph& graph, const std::function<Graph(const Graph&)>& pass) {
    Graph result = graph;
    std::map<const ScanFunction*, const ScanFunction*> passed;
    for (ScanAttributes& scan : result.scans) {
        if (!scan.function) continue;
        const ScanFunction*& to = passed[scan.function];
        if (!to) {
            ScanFunction function = *scan.function;
            function.step = pass(on_steps(function.step, pass));
            to = keep(std::move(function));
        }
        scan.function = to;
    }
    return result;
}

namespace {

/// The scan's function with every random node as a sequence, and what is drawn.
struct Drawn {
    const ScanFunction* function;
    std::vector<Node> random;
};

Drawn without_random(const ScanFunction& from) {
    ScanFunction function = from;
    Drawn drawn;
    function.step = Rewrite::run(from.step, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = from.step[id];
        if (!op_def(node.op).draws) return {};
        drawn.random.push_back(node);
        const Port port{Role::value, function.sequences++};
        return make(rewrite.target(), {.op = Op::input,
                                       .dtype = node.dtype,
                                       .shape = node.shape,
                                       .name = name_of(port),
                                       .port = port});
    });
    drawn.function = keep(std::move(function));
    return drawn;
}

/// The inputs of scan `id`, and behind its sequences what is drawn for all steps.
std::vector<Tensor> with_drawn(Rewrite& rewrite, int id, const std::vector<Node>& random) {
    const Graph& graph = rewrite.source();
    const ScanAttributes& scan = scan_of(graph, id);
    std::vector<Tensor> inputs;
    for (int i = 0; i <= scan.function->inputs(); ++i) {
        if (i == scan.function->sequences)
            for (Node all : random) {
                const Shape one = all.shape;
                all.shape = {scan.steps};
                for (const Dim& dim : one) all.shape.push(dim);
                inputs.push_back(make(rewrite.target(), all));
            }
        if (i < scan.function->inputs())
            inputs.push_back(rewrite.mapped(graph[id].inputs[std::size_t(i)]));
    }
    return inputs;
}

}  // namespace

Graph draw_ahead(const Graph& graph) {
    if (!has_scans(graph)) return graph;
    Graph inside = on_steps(graph, [](const Graph& step) { return draw_ahead(step); });
    std::map<const ScanFunction*, Drawn> functions;
    std::map<std::pair<const ScanFunction*, Inputs>, std::vector<Tensor>> made;
    return Rewrite::run(inside, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (!is_scan(inside, id)) return {};
        const ScanAttributes& scan = scan_of(inside, id);
        auto found = functions.find(scan.function);
        if (found == functions.end())
            found = functions.emplace(scan.function, without_random(*scan.function)).first;
        const Drawn& drawn = found->second;
        if (drawn.random.empty()) return {};
        std::vector<Tensor>& inputs = made[{scan.function, inside[id].inputs}];
        if (inputs.empty()) inputs = with_drawn(rewrite, id, drawn.random);
        return make_scan(rewrite.target(), drawn.function, scan.steps, inputs, inside[id].axis);
    });
}

}  // namespace fovea
