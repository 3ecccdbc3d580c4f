#include "codegen/graph/ports.h"

#include "codegen/graph/rewrite.h"

namespace fovea {

namespace {

int find_port(const Graph& function, Op op, const Port& port) {
    for (int id = 1; id < int(function.nodes.size()); ++id)
        if (function[id].op == op && function[id].port == port) return id;
    return 0;
}

}  // namespace

std::string_view name_of(const Port& port) {
    constexpr std::string_view kNames[]{
        "",    "value", "state", "next",        "result",    "capture", "query",
        "key", "batch", "head",  "query_index", "key_index", "score"};
    std::string name(kNames[std::size_t(port.role)]);
    if (port.role >= Role::value && port.role <= Role::capture) name += std::to_string(port.number);
    return intern(name + (port.gradient ? ".grad" : ""));
}

int find_input(const Graph& function, const Port& port) {
    return find_port(function, Op::input, port);
}
int find_output(const Graph& function, const Port& port) {
    return find_port(function, Op::output, port);
}

int find_output(const Graph& graph, std::string_view name) {
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (graph[id].op == Op::output && graph[id].name == name) return id;
    return 0;
}

Node input_like(const Node& like, const Port& port) {
    return {.op = Op::input,
            .dtype = like.dtype,
            .shape = like.shape,
            .scope = like.scope,
            .location = like.location,
            .name = name_of(port),
            .port = port};
}

Node output_of(const Graph& function, int id, const Port& port) {
    const Node& value = function[id];
    return {.op = Op::output,
            .dtype = value.dtype,
            .shape = value.shape,
            .inputs = inputs_of({id}),
            .scope = value.scope,
            .location = value.location,
            .name = name_of(port),
            .port = port};
}

}  // namespace fovea
