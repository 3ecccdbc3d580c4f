#include "codegen/graph/batcher.h"

#include <array>

#include "codegen/graph/rewrite.h"

namespace fovea {

std::optional<std::string_view> why_not_batched(const Graph& graph, int id, std::uint64_t along,
                                                int axes) {
    const Node& node = graph[id];
    const OpDef& def = op_def(node.op);
    const bool holds_function =
        def.attribute == Attribute::attention || def.attribute == Attribute::scan;
    if (!along && holds_function) return "it holds a function of its own";
    if (!along) return std::nullopt;
    if (!def.batch) return "it is not known for many at once";
    return def.why_not_batch ? def.why_not_batch(graph, node, along, axes) : std::nullopt;
}

Batched Batcher::value(int id) {
    if (is_defined(id)) return values_[std::size_t(id)];
    for (int input : function_[id].inputs)
        if (input > 0) value(input);
    const Batched built = build(id);
    define(id, built);
    return built;
}

Batched Batcher::build(int id) {
    const Node& node = function_[id];
    if (rule_)
        if (std::optional<Batched> built = rule_(id)) return *built;
    if (row_of(node.op).op_class == OpClass::output) return value(node.inputs[0]);
    std::array<Batched, kMaxInputs> inputs{};
    std::uint64_t along = 0;
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
        if (node.inputs[i] <= 0) continue;
        inputs[i] = value(node.inputs[i]);
        along |= std::uint64_t(inputs[i].along) << i;
    }
    if (const auto why = why_not_batched(function_, id, along, axes_)) {
        Text text;
        text << row_of(node.op).name << " cannot be used here: " << *why;
        target_.fail(node.location, node.scope, text);
    }
    if (!along) return copy(id);
    return {op_def(node.op).batch({function_, id, target_, axes_, inputs}), true};
}

Batched Batcher::copy(int id) {
    Node copied = function_[id];
    for (int& input : copied.inputs)
        if (input >= 0) input = value(input).tensor.id;
    copy_attribute(function_, copied, target_);
    return {make(target_, copied), false};
}

}  // namespace fovea
