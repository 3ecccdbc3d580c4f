#include "codegen/graph/id_operands.h"

#include <fmt/format.h>

#include "codegen/graph/op_def.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

std::vector<IdOperand> id_operands(const Graph& graph, int id) {
    const Node& node = graph[id];
    const OpDef& def = op_def(node.op);
    return def.ids ? def.ids(graph, node) : std::vector<IdOperand>();
}

Graph with_checks(const Graph& graph) {
    Graph result = on_steps(graph, with_checks);
    for (int id = 1, count = int(result.nodes.size()); id < count; ++id) {
        if (row_of(result[id].op).op_class != OpClass::composite || result[id].region) continue;
        for (const IdOperand& operand : id_operands(result, id))
            result.nodes.push_back(
                {.op = Op::output,
                 .dtype = i32,
                 .shape = result[result[id].inputs[std::size_t(operand.operand)]].shape,
                 .inputs = inputs_of({result[id].inputs[std::size_t(operand.operand)]}),
                 .name = intern(place_of_operand(result, id, operand.holds, operand.function)),
                 .dim = operand.limit.without_label(),
                 .axis = int(operand.holds)});
    }
    return result;
}

std::string place_of_operand(const Graph& graph, int id, Holds holds, std::string_view function) {
    const Node& node = graph[id];
    const std::string module = graph.path(graph.scope_of(id));
    return fmt::format("{}:{}: {} of {}{}", node.location.file_name(), node.location.line,
                       holds == Holds::ids ? "the ids" : "the lengths",
                       function.empty() ? row_of(node.op).name : function,
                       module.empty() ? "" : " in " + module);
}

std::string out_of_range_text(const std::string& place, Holds holds, double value,
                              std::int64_t index, std::span<const std::int64_t> shape,
                              std::int64_t limit) {
    std::string position;
    for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
        position = std::to_string(index % shape[axis]) + (position.empty() ? "" : ", ") + position;
    const std::size_t colon = place.find(": ");
    const bool ids = holds == Holds::ids;
    const std::string range =
        ids && limit == 0
            ? "the table has no rows"
            : fmt::format("{} are from 0 to {}", ids ? "ids" : "lengths", ids ? limit - 1 : limit);
    return fmt::format("{}: element [{}] of {} is {:.0f}; {}", place.substr(0, colon), position,
                       place.substr(colon + 2), value, range);
}

}  // namespace fovea
