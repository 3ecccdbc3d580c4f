// An order in which groups can run, near that of the graph; their names; what can be prepared.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "codegen/base/error.h"
#include "codegen/fuse/fuse.h"
#include "codegen/graph/module_names.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

/// The values that a group takes from memory, seen through what is inlined.
void collect_reads(const Graph& graph, const std::vector<bool>& inlined, const FusedGraph& fused,
                   int id, int group, std::set<int>& reads) {
    for (int input : graph[id].inputs) {
        if (input <= 0) continue;
        if (inlined[std::size_t(input)]) collect_reads(graph, inlined, fused, input, group, reads);
        else if (fused.group_of[std::size_t(input)] != group ||
                 row_of(graph[input].op).op_class == OpClass::view)
            reads.insert(input);
    }
}

/// Whether nothing in a group changes from run to run, whatever the sizes are, as long as its
/// values keep their shapes; what it reads must be prepared, too.
class Constants {
  public:
    explicit Constants(const Graph& graph)
        : varies_(varying_nodes(graph)), changes_(change_beside_shape(graph)) {}

    bool is_constant(const FusedGraph& fused, const Group& group) const {
        for (int id : group.nodes)
            if (varies_[std::size_t(id)]) return false;
        for (int id : group.sums)
            if (changes_[std::size_t(id)]) return false;
        for (int id : group.stored) {
            const int base = fused.layouts[std::size_t(id)].base;
            if (changes_[std::size_t(id)] || fused.output_of[std::size_t(base)] >= 0) return false;
        }
        return true;
    }

  private:
    std::vector<bool> varies_, changes_;  // by node
};

/// The module of the last parameter that a group reads; 0: none.
int module_of_parameters(const Graph& graph, const std::vector<bool>& inlined,
                         const FusedGraph& fused, const Group& group, int number) {
    std::set<int> reads;
    for (int id : group.nodes) collect_reads(graph, inlined, fused, id, number, reads);
    int module = 0;
    for (int id : reads) {
        while (row_of(graph[id].op).op_class == OpClass::view) id = graph[id].inputs[0];
        if (graph[id].op == Op::parameter) module = graph.scope(graph[id].scope).parent;
    }
    return module;
}

/// `encoder_block0_attention_masked_softmax`, `decoder_dense_weight_gradient`.
std::string name_group(const Graph& graph, const std::vector<bool>& inlined,
                       const ModuleNames& modules, const FusedGraph& fused, const Group& group,
                       int number) {
    int id = group.anchor >= 0      ? group.anchor
             : group.stored.empty() ? group.nodes.back()
                                    : group.stored.back();
    std::vector<int> named = group.stored;  // sums over rows name their kernel if nothing else does
    std::erase_if(named, [&](int stored) {
        return std::binary_search(group.sums.begin(), group.sums.end(), stored);
    });
    if (named.empty()) named = group.stored;
    else if (group.anchor < 0) id = named.back();
    const Node& node = graph[id];
    int output = named.empty()
                     ? -1
                     : fused.output_of[std::size_t(fused.layouts[std::size_t(named[0])].base)];
    bool attends = node.op == Op::fused_attention;
    if (output >= 0 && node.backward && !attends && graph[output].port.gradient) {
        const std::string_view name = graph[output].name;
        const std::string of(name.substr(0, name.size() - std::string_view(".grad").size()));
        const int scope = graph[output].scope;  // a parameter's is its name
        return underscored((graph.path(scope) == of ? modules.name(scope) : of) + ".gradient");
    }
    // What a model wrote outside of modules is named after the parameters that it reads.
    int module = node.scope;
    if (module <= 0) module = module_of_parameters(graph, inlined, fused, group, number);
    if (module <= 0) module = graph.scope_of(id);
    std::string name = underscored(modules.name(module));
    bool linear = node.op == Op::einsum && node.scope > 0 && node.composite == Op::poison;
    bool says_so = attends && name.find("attention", name.find_last_of('_') + 1) != name.npos;
    if (!(linear || says_so) || name.empty())
        name += (name.empty() ? "" : "_") + what_it_computes(graph, id);
    bool gradient = attends ? group.form == Form::attention_gradient : node.backward;
    if (graph[id].recomputed && !gradient) name += "_again";
    return gradient ? name + "_gradient" : name;
}

}  // namespace

std::vector<bool> varying_nodes(const Graph& graph) {
    std::vector<bool> varies(graph.nodes.size(), false);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        bool any = node.op == Op::input || node.state || op_def(node.op).draws;
        for (int input : node.inputs) any = any || (input > 0 && varies[std::size_t(input)]);
        varies[std::size_t(id)] = any;
    }
    return varies;
}

void order_groups(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused) {
    int count = int(fused.groups.size());
    // The group that gives a value its memory; of a view, the one of its base.
    auto writer = [&](int id) {
        while (fused.group_of[std::size_t(id)] < 0 &&
               row_of(graph[id].op).op_class == OpClass::view)
            id = graph[id].inputs[0];
        return fused.group_of[std::size_t(id)];
    };

    std::vector<std::vector<int>> next(static_cast<std::size_t>(count));
    std::vector<int> waits(std::size_t(count), 0);
    for (int g = 0; g < count; ++g) {
        std::set<int> reads, before;
        for (int id : fused.groups[std::size_t(g)].nodes)
            collect_reads(graph, inlined, fused, id, g, reads);
        for (int id : reads) {
            int base = fused.layouts[std::size_t(id)].base;
            const bool part = graph[id].op == Op::concat;  // of another, stored in place
            if (base < 0 && !part) throw InternalError("fuse: a value that is read has no memory");
            const int from = writer(id);
            if (from >= 0 && from != g) before.insert(from);
        }
        for (int b : before) next[std::size_t(b)].push_back(g);
        waits[std::size_t(g)] = int(before.size());
    }

    using Ready = std::pair<int, int>;  // first node, group
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    auto offer = [&](int g) { ready.push({fused.groups[std::size_t(g)].nodes.front(), g}); };
    for (int g = 0; g < count; ++g)
        if (!waits[std::size_t(g)]) offer(g);
    const Constants constants(graph);
    const ModuleNames modules(graph);
    std::vector<Group> ordered;
    std::vector<bool> reads_unprepared(std::size_t(count), false);
    while (!ready.empty()) {
        int g = ready.top().second;
        ready.pop();
        Group& group = fused.groups[std::size_t(g)];
        group.prepared = !reads_unprepared[std::size_t(g)] && constants.is_constant(fused, group);
        group.name = name_group(graph, inlined, modules, fused, group, g);
        for (int id : group.nodes) fused.group_of[std::size_t(id)] = int(ordered.size());
        ordered.push_back(group);
        for (int n : next[std::size_t(g)]) {
            if (!ordered.back().prepared) reads_unprepared[std::size_t(n)] = true;
            if (--waits[std::size_t(n)] == 0) offer(n);
        }
    }
    if (int(ordered.size()) != count) throw InternalError("fuse: the groups wait for each other");
    fused.groups = std::move(ordered);
}

}  // namespace fovea::fuse
