#include "codegen/graph/module_names.h"

#include <unordered_map>

namespace fovea {

namespace {

/// What is known of a path: several records may have it.
struct Module {
    bool computes = false;               // a node is of it
    bool holds = false;                  // modules or parameters
    bool numbers = true, series = true;  // it holds numbered modules alone, or modules that do
};

}  // namespace

ModuleNames::ModuleNames(const Graph& graph) : graph_(graph) {
    std::unordered_map<std::uint64_t, Module> modules;
    const auto of = [&](int scope) -> Module& { return modules[graph.scope(scope).hash]; };
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (graph[id].scope > 0) of(graph[id].scope).computes = true;
    const int count = int(graph.scopes.size());
    for (int scope = 1; scope < count; ++scope)
        if (graph.scope(scope).parent > 0) of(graph.scope(scope).parent).holds = true;
    for (int scope = 1; scope < count; ++scope) {
        const ScopeRecord& record = graph.scope(scope);
        if (record.parent <= 0) continue;
        const bool numbered = record.joined && record.index >= 0 && of(scope).holds;
        if (!numbered || of(record.parent).computes) of(record.parent).numbers = false;
    }
    for (int scope = 1; scope < count; ++scope) {
        const int parent = graph.scope(scope).parent;
        if (parent > 0 && !(of(scope).holds && of(scope).numbers)) of(parent).series = false;
    }
    for (const auto& [hash, module] : modules)
        if (module.holds && module.series && !module.computes) left_out_.insert(hash);
}

std::string ModuleNames::name(int scope) const {
    if (scope <= 0) return {};
    const ScopeRecord& record = graph_.scope(scope);
    std::string before = name(record.parent);
    if (left_out_.contains(record.hash)) return before;
    if (!before.empty() && !record.joined) before += ".";
    before += record.part;
    if (record.index >= 0) before += std::to_string(record.index);
    return before;
}

}  // namespace fovea
