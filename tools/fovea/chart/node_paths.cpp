#include "tools/fovea/chart/node_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace fovea::tool {

namespace {

using Paths = std::set<ModulePath>;

bool is_within(const ModulePath& path, const ModulePath& outer) {
    return path.size() >= outer.size() && std::equal(outer.begin(), outer.end(), path.begin());
}

bool is_port(const Node& node) { return node.op == Op::input || node.op == Op::output; }

/// The innermost module that holds all of `below` and one of `above`.
ModulePath implied_path(const Paths& above, const Paths& below) {
    if (below.empty()) return {};
    ModulePath path = *below.begin();
    for (const ModulePath& other : below)
        while (!is_within(other, path)) path.pop_back();
    const auto holds_one = [&] {
        return std::any_of(above.begin(), above.end(),
                           [&](const ModulePath& one) { return is_within(one, path); });
    };
    while (!above.empty() && !path.empty() && !holds_one()) path.pop_back();
    return path;
}

/// The modules that were made in one go: while their nodes were made, no others were. Node numbers
/// say so.
class Stretches {
  public:
    void add(int id, const ModulePath& path) {
        ModulePath outer;
        for (const std::string& part : path) {
            outer.push_back(part);
            Stretch& stretch =
                stretches_.try_emplace(outer, Stretch{id, id, order_, 0}).first->second;
            stretch.last = id;
            stretch.whole = stretch.whole && stretch.first_in_order + stretch.count == order_;
            ++stretch.count;
        }
        ++order_;
    }
    /// For each node between the first and the last of such modules: the innermost of them.
    std::vector<const ModulePath*> modules(std::size_t nodes) const {
        std::vector<const ModulePath*> found(nodes, nullptr);
        // A map has outer paths before those inside of them.
        for (const auto& [path, stretch] : stretches_)
            for (int id = stretch.first; stretch.whole && id < stretch.last; ++id)
                found[std::size_t(id)] = &path;
        return found;
    }

  private:
    struct Stretch {
        int first = 0, last = 0, first_in_order = 0, count = 0;
        bool whole = true;
    };
    std::map<ModulePath, Stretch> stretches_;
    int order_ = 0;
};

class Placing {
  public:
    Placing(const Graph& graph, const std::vector<bool>& shown)
        : graph_(graph),
          shown_(shown),
          count_(graph.nodes.size()),
          paths_(count_),
          says_none_(count_),
          above_(count_),
          below_(count_) {
        for (int scope = 1; scope < int(graph.scopes.size()); ++scope)
            if (graph.scope(scope).index >= 0) numbered_.insert(module_path(graph.path(scope)));
    }

    std::vector<ModulePath> paths() {
        read_scopes();
        find_neighbours();
        for (int id = 1; id < int(count_); ++id)
            if (is_open(id)) paths_[std::size_t(id)] = implied_path(above(id), below(id));
        for (const bool backward : {false, true}) use_stretches(backward);
        place_sources();
        return std::move(paths_);
    }

  private:
    const Paths& above(int id) const { return above_[std::size_t(id)]; }
    const Paths& below(int id) const { return below_[std::size_t(id)]; }
    bool is_shown(int id) const { return id > 0 && shown_[std::size_t(id)]; }
    bool says_none(int id) const { return says_none_[std::size_t(id)]; }
    /// Whether others say where it is.
    bool is_open(int id) const { return is_shown(id) && says_none(id) && !is_port(graph_[id]); }
    /// What is made again is of the gradient's pass.
    bool is_of_gradient(int id) const { return graph_[id].backward || graph_[id].recomputed; }
    bool same_pass(int a, int b) const { return is_of_gradient(a) == is_of_gradient(b); }

    void read_scopes() {
        for (int id = 1; id < int(count_); ++id) {
            ModulePath& path = paths_[std::size_t(id)];
            if (is_shown(id)) path = module_path(graph_.path(graph_[id].scope));
            // The gradient of a parameter says its name.
            if (graph_[id].op == Op::output && graph_[id].backward && !path.empty())
                path.pop_back();
            if (graph_[id].backward && graph_[id].op == Op::elementwise) leave_module(id, path);
            says_none_[std::size_t(id)] = path.empty();
        }
    }
    /// What adds the gradient that a module gives to that of another is beside the module.
    void leave_module(int id, ModulePath& path) const {
        if (path.empty() || row_of(graph_[id].function).name != "add") return;
        const bool comes_from_outside =
            std::any_of(graph_[id].inputs.begin(), graph_[id].inputs.end(), [&](int input) {
                return is_shown(input) && graph_[input].backward &&
                       !is_within(paths_[std::size_t(input)], path);
            });
        if (comes_from_outside) path.pop_back();
    }
    /// The modules of those that a node reads, and of those that read it, across nodes that say
    /// none.
    void find_neighbours() {
        for (int id = 1; id < int(count_); ++id)
            for (int input : graph_[id].inputs) {
                if (!is_shown(input)) continue;
                auto& own = above_[std::size_t(id)];
                if (!says_none(input)) own.insert(paths_[std::size_t(input)]);
                else if (same_pass(id, input)) own.insert(above(input).begin(), above(input).end());
                if (!says_none(id) && same_pass(id, input))
                    below_[std::size_t(input)].insert(paths_[std::size_t(id)]);
            }
        for (int id = int(count_) - 1; id > 0; --id) {
            if (!is_shown(id) || !says_none(id)) continue;
            for (int input : graph_[id].inputs)
                if (is_shown(input) && says_none(input) && same_pass(id, input))
                    below_[std::size_t(input)].insert(below(id).begin(), below(id).end());
        }
    }

    Stretches stretches(bool backward) const {
        Stretches stretches;
        for (int id = 1; id < int(count_); ++id) {
            const Node& node = graph_[id];
            if (node.backward != backward) {
                if (!backward) break;  // what gradients need of forward is made again among them
                continue;
            }
            ModulePath path = paths_[std::size_t(id)];
            if (node.op == Op::parameter) {
                path = module_path(graph_.path(node.scope));
                path.pop_back();
            } else if (!is_shown(id) || says_none(id) || is_port(node)) {
                continue;
            }
            stretches.add(id, path);
        }
        return stretches;
    }
    static std::string place_of(const Node& node) {
        return fmt::format("{}:{}", node.location.file_name(), node.location.line);
    }
    /// What is made while a module is made is of it. What comes right after a layer, of its values,
    /// and goes to the next layer, is of the layer too: the sum that a block ends with.
    void use_stretches(bool backward) {
        const Stretches made = stretches(backward);
        const std::vector<const ModulePath*> modules = made.modules(count_);
        std::set<std::string> ends;  // places in the source that end layers
        ModulePath latest;
        for (int id = 1; id < int(count_); ++id) {
            const Node& node = graph_[id];
            if (node.backward != backward || !is_shown(id) || is_port(node)) continue;
            ModulePath& path = paths_[std::size_t(id)];
            if (!says_none(id)) latest = path;
            if (!says_none(id) || above(id).empty()) continue;
            const ModulePath module =
                modules[std::size_t(id)] ? *modules[std::size_t(id)] : ModulePath{};
            const ModulePath own = backward ? module_of_gradient(id, latest) : ModulePath{};
            for (const ModulePath& one : {module, own})
                if (!is_within(path, one) && is_within(one, module)) path = one;
            if (backward) leave_module(id, path);
            const ModulePath layer = layer_of_inputs(id);
            if (layer.empty() || is_within(path, layer) || !is_within(layer, path)) continue;
            if (goes_to_sibling(id, layer)) ends.insert(place_of(node));
            if (ends.count(place_of(node))) path = layer;
        }
        for (int id = 1; id < int(count_) && !backward; ++id)
            if (!graph_[id].backward && is_shown(id))
                made_at_[paths_[std::size_t(id)]].insert(place_of(graph_[id]));
    }
    /// The module that made what this is a gradient of, if the latest of a gradient or one around
    /// it did.
    ModulePath module_of_gradient(int id, ModulePath latest) const {
        for (; !latest.empty(); latest.pop_back()) {
            const auto places = made_at_.find(latest);
            if (places != made_at_.end() && places->second.count(place_of(graph_[id]))) break;
        }
        return latest;
    }
    /// The numbered module that holds all that a node reads, or none.
    ModulePath layer_of_inputs(int id) const {
        ModulePath layer;
        bool first = true;
        const auto& inputs = graph_[id].inputs;
        const bool has_own = std::any_of(inputs.begin(), inputs.end(), [&](int input) {
            return is_shown(input) && same_pass(id, input);
        });
        for (int input : inputs) {
            if (!is_shown(input) || is_port(graph_[input])) continue;
            if (has_own && !same_pass(id, input)) continue;
            if (says_none(input) && above(input).empty()) continue;
            const ModulePath& path = paths_[std::size_t(input)];
            if (first) layer = path;
            first = false;
            while (!is_within(path, layer)) layer.pop_back();
        }
        while (!layer.empty() && !numbered_.count(layer)) layer.pop_back();
        return layer;
    }
    bool goes_to_sibling(int id, const ModulePath& layer) const {
        return std::any_of(below(id).begin(), below(id).end(), [&](ModulePath path) {
            if (path.size() < layer.size() || is_within(path, layer)) return false;
            path.resize(layer.size());
            return numbered_.count(path) &&
                   std::equal(layer.begin(), layer.end() - 1, path.begin());
        });
    }
    /// What reads nothing, like positions, is of the innermost module that holds all who read it.
    void place_sources() {
        std::vector<Paths> readers(count_);
        for (int id = int(count_) - 1; id > 0; --id) {
            if (!is_shown(id)) continue;
            ModulePath& path = paths_[std::size_t(id)];
            if (is_open(id) && above(id).empty()) path = implied_path({}, readers[std::size_t(id)]);
            for (int input : graph_[id].inputs)
                if (input > 0) readers[std::size_t(input)].insert(path);
        }
    }

    const Graph& graph_;
    const std::vector<bool>& shown_;
    const std::size_t count_;
    std::vector<ModulePath> paths_;
    std::vector<bool> says_none_;
    std::vector<Paths> above_, below_;
    Paths numbered_;  // modules with a number
    std::map<ModulePath, std::set<std::string>> made_at_;  // places in the source, of forward
};

}  // namespace

ModulePath module_path(const std::string& path) {
    ModulePath parts;
    for (std::size_t start = 0; start < path.size();) {
        const std::size_t end = std::min(path.find('.', start), path.size());
        parts.push_back(path.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

std::vector<ModulePath> node_paths(const Graph& graph, const std::vector<bool>& shown) {
    return Placing(graph, shown).paths();
}

}  // namespace fovea::tool
