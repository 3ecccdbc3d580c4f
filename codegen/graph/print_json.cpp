// A graph as JSON, for tools.
#include "codegen/graph/print_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/graph/print.h"

namespace fovea {

namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const Shape& shape) {
    Json dims = Json::array();
    for (const Dim& dim : shape) {
        if (dim.is_static()) {
            dims.push_back(dim.value());
            continue;
        }
        Text text;
        text << dim;
        dims.push_back(std::string(text.view()));
    }
    return dims;
}

Json node_json(const Graph& graph, int id) {
    const Node& node = graph[id];
    bool elementwise = node.op == Op::elementwise;
    std::string_view op = elementwise ? row_of(node.function).name : row_of(node.op).name;
    Json inputs = Json::array();
    for (int input : node.inputs)
        if (input > 0) inputs.push_back(input);
    Json json{{"id", id},
              {"op", op},
              {"text", print_op(graph, id)},
              {"inputs", inputs},
              {"dtype", name_of(node.dtype)},
              {"shape", shape_json(node.shape)}};
    if (!node.name.empty()) json["name"] = node.name;
    if (node.scope > 0) json[node.op == Op::parameter ? "name" : "module"] = graph.path(node.scope);
    if (node.location.line)
        json["source"] = fmt::format("{}:{}", node.location.file_name(), node.location.line);
    if (node.region) json["region"] = node.region;
    if (node.backward) json["backward"] = true;
    if (node.composite != Op::poison) json["composite"] = row_of(node.composite).name;
    return json;
}

}  // namespace

std::string print_json(const Graph& graph) {
    Json nodes = Json::array();
    for (int id = 1; id < int(graph.nodes.size()); ++id) nodes.push_back(node_json(graph, id));
    return Json{{"nodes", nodes}}.dump(1) + "\n";
}

}  // namespace fovea
