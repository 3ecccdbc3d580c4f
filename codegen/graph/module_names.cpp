#include "codegen/graph/module_names.h"

#include <map>

namespace fovea {

namespace {

/// What is known of a path: several records may have it.
struct Module {
    int record = 0;  // one of them
    bool computes = false;  // a node is of it
    std::set<std::uint64_t> holds{};  // modules and parameters
};

class Modules {
  public:
    explicit Modules(const Graph& graph) : graph_(graph) {
        for (int scope = 1; scope < int(graph.scopes.size()); ++scope) {
            const ScopeRecord& record = graph.scope(scope);
            modules_[record.hash].record = scope;
            if (record.parent >= 0)
                modules_[graph.scope(record.parent).hash].holds.insert(record.hash);
        }
        for (int id = 1; id < int(graph.nodes.size()); ++id)
            if (graph[id].scope > 0) modules_[graph.scope(graph[id].scope).hash].computes = true;
    }

    std::set<std::uint64_t> left_out() const {
        std::set<std::uint64_t> found;
        for (const auto& [hash, module] : modules_)
            if (holds_series_alone(module) && !hides_others(module)) found.insert(hash);
        return found;
    }

  private:
    const Module& of(std::uint64_t hash) const { return modules_.at(hash); }
    const ScopeRecord& record_of(const Module& module) const { return graph_.scope(module.record); }
    /// `block` of `block0`, `block1`, …, modules that hold something.
    bool is_series(const Module& module) const {
        for (std::uint64_t hash : module.holds) {
            const ScopeRecord& record = record_of(of(hash));
            if (!record.joined || record.index < 0 || of(hash).holds.empty()) return false;
        }
        return !module.holds.empty() && !module.computes;
    }
    bool holds_series_alone(const Module& module) const {
        for (std::uint64_t hash : module.holds)
            if (!is_series(of(hash))) return false;
        return !module.holds.empty() && !module.computes;
    }
    /// Whether what it holds is named like something else that its module holds, or would be.
    bool hides_others(const Module& module) const {
        const int parent = record_of(module).parent;
        if (parent < 0) return false;
        std::multiset<std::string_view> names;
        for (std::uint64_t hash : of(graph_.scope(parent).hash).holds) {
            if (holds_series_alone(of(hash)))
                for (std::uint64_t inside : of(hash).holds)
                    names.insert(record_of(of(inside)).part);
            else names.insert(record_of(of(hash)).part);
        }
        for (std::uint64_t hash : module.holds)
            if (names.count(record_of(of(hash)).part) > 1) return true;
        return false;
    }

    const Graph& graph_;
    std::map<std::uint64_t, Module> modules_;  // by the hashes of their paths
};

}  // namespace

ModuleNames::ModuleNames(const Graph& graph)
    : graph_(graph), left_out_(Modules(graph).left_out()) {}

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
