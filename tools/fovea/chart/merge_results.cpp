#include "tools/fovea/chart/merge_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "codegen/graph/scan_function.h"

namespace fovea::tool {

namespace {

/// A part of the title of a scan's value: ` state 0`, ` result 3`.
std::string scan_value(const std::string& title) {
    const std::size_t at = std::max(title.rfind(" state ") + 1, title.rfind(" result ") + 1);
    return at == 0 ? "" : title.substr(at);
}

class Results {
  public:
    explicit Results(const Graph& graph) : graph_(graph) {}

    void run(PictureModule& root) {
        merge(root);
        read_merged(root);
    }

  private:
    using Values = std::vector<std::pair<std::string, std::vector<std::string>>>;  // by shape

    void merge(PictureModule& module) {
        for (auto& one : module.modules) merge(*one);
        std::vector<PictureNode> kept;
        std::map<int, Values> values;
        for (PictureNode& node : module.nodes) {
            const auto same = std::ranges::find_if(kept, [&](const PictureNode& other) {
                return graph_[node.id].op == Op::scan && graph_[other.id].op == Op::scan &&
                       is_same_scan(graph_, node.id, other.id);
            });
            const int id = same == kept.end() ? node.id : same->id;
            if (graph_[node.id].op == Op::scan) add(values[id], node);
            if (same == kept.end()) kept.push_back(std::move(node));
            else merged_[node.id] = id;
        }
        for (PictureNode& node : kept) {
            const auto found = values.find(node.id);
            if (found != values.end()) name_values(node, found->second);
        }
        module.nodes = std::move(kept);
    }
    static void add(Values& values, const PictureNode& node) {
        auto of_shape =
            std::ranges::find_if(values, [&](const auto& one) { return one.first == node.shape; });
        if (of_shape == values.end()) of_shape = values.insert(values.end(), {node.shape, {}});
        of_shape->second.push_back(scan_value(node.title));
    }
    static void name_values(PictureNode& node, const Values& values) {
        if (values.size() == 1 && values[0].second.size() == 1) return;
        const std::string value = scan_value(node.title);
        node.title.resize(node.title.size() - value.size() - 1);
        for (const auto& [shape, names] : values)
            node.gives.push_back(fmt::format("{}: {}", fmt::join(names, ", "), shape));
        if (values.size() > 1) node.shape.clear();
    }
    /// What reads one reads the node that is drawn; of the other pass, it was kept.
    void read_merged(PictureModule& module) const {
        for (PictureNode& node : module.nodes) {
            std::vector<int> all = std::exchange(node.inputs, {});
            all.insert(all.end(), node.kept.begin(), node.kept.end());
            node.kept.clear();
            for (int id : all) {
                const auto merged = merged_.find(id);
                if (merged != merged_.end()) id = merged->second;
                auto& read =
                    graph_[id].backward == graph_[node.id].backward ? node.inputs : node.kept;
                if (std::ranges::find(read, id) == read.end()) read.push_back(id);
            }
        }
        for (auto& one : module.modules) read_merged(*one);
    }

    const Graph& graph_;
    std::map<int, int> merged_;  // nodes that are not drawn, and those that are for them
};

}  // namespace

void merge_results(PictureModule& root, const Graph& graph) { Results(graph).run(root); }

}  // namespace fovea::tool
