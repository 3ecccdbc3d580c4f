// Copying nodes from graph to graph, with their attributes and score regions.
#include "codegen/graph/rewrite.h"

#include <string>

#include "codegen/graph/op_def.h"

namespace fovea {

void copy_attribute(const Graph& from, Node& node, Graph& to) {
    if (node.attribute < 0) return;
    const auto copy = [&](const auto& source, auto& target) {
        target.push_back(source[std::size_t(node.attribute)]);
        node.attribute = int(target.size()) - 1;
    };
    switch (op_def(node.op).attribute) {
        case Attribute::none: break;
        case Attribute::einsum: return copy(from.einsums, to.einsums);
        case Attribute::rearrange: return copy(from.rearranges, to.rearranges);
        case Attribute::attention: return copy(from.attentions, to.attentions);
        case Attribute::scan: return copy(from.scans, to.scans);
        case Attribute::logit_curve: return copy(from.logit_curves, to.logit_curves);
    }
}

Rewrite::Rewrite(const Graph& source) : source_(source), map_(source.nodes.size(), -1) {
    map_[0] = 0;
    target_.scopes = source.scopes;
    target_.aliases = source.aliases;
    target_.regions = source.regions;
    target_.sites = source.sites;
    target_.nodes.reserve(source.nodes.size() + source.nodes.size() / 2);
    region_nodes_.resize(std::size_t(source.regions));
    for (int id = 1; id < int(source.nodes.size()); ++id)
        if (source[id].region) region_nodes_[std::size_t(source[id].region)].push_back(id);
}

Tensor Rewrite::mapped(int source_id) {
    int id = map_[std::size_t(source_id)];
    if (id < 0)
        throw InternalError("rewrite: node %" + std::to_string(source_id) +
                            " is used before it is made");
    return {&target_, id};
}

Tensor Rewrite::copy_node(int source_id) {
    Node node = source_[source_id];
    for (int& input : node.inputs)
        if (input >= 0) input = mapped(input).id;
    copy_attribute(source_, node, target_);
    target_.nodes.push_back(node);
    map_[std::size_t(source_id)] = int(target_.nodes.size()) - 1;
    return {&target_, map_[std::size_t(source_id)]};
}

Tensor Rewrite::copy(int source_id) {
    const Node& node = source_[source_id];
    if (node.op != Op::attention) return copy_node(source_id);
    const AttentionAttributes& attributes = source_.attentions[std::size_t(node.attribute)];
    for (int id : region_nodes_[std::size_t(attributes.region)]) copy_node(id);
    Tensor copied = copy_node(source_id);
    target_.attentions[std::size_t(copied.node().attribute)].score = mapped(attributes.score).id;
    return copied;
}

void Rewrite::set(int source_id, Tensor value) { map_[std::size_t(source_id)] = value.id; }

std::vector<int> count_readers(const Graph& graph) {
    std::vector<int> readers(graph.nodes.size(), 0);
    for (const Node& node : graph.nodes)
        for (int input : node.inputs)
            if (input > 0) ++readers[std::size_t(input)];
    return readers;
}

}  // namespace fovea
