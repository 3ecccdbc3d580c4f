#include "tools/fovea/chart/merge_chains.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace fovea::tool {

namespace {

class Chains {
  public:
    Chains(const Graph& graph, const std::vector<int>& kernel_of)
        : graph_(graph), kernel_of_(kernel_of) {}

    void run(PictureModule& root) {
        count_readers(root);
        merge(root);
    }

  private:
    void count_readers(const PictureModule& module) {
        for (const PictureNode& node : module.nodes) {
            for (int input : node.inputs) ++readers_[input];
            kept_.insert(node.kept.begin(), node.kept.end());
        }
        for (const auto& one : module.modules) count_readers(*one);
    }
    int kernel_of(int id) const {
        return std::size_t(id) < kernel_of_.size() ? kernel_of_[std::size_t(id)] : -1;
    }
    bool stands_alone(int id) const {
        const Op op = graph_[id].op;
        return op == Op::input || op == Op::attention || op == Op::fused_attention ||
               op == Op::scan;
    }
    /// Whether a card can hold both, one after the other.
    bool follows(const PictureNode& next, const PictureNode& node) const {
        if (stands_alone(node.id) || stands_alone(next.id)) return false;
        if (next.inputs.size() != 1 || next.inputs[0] != node.id) return false;
        if (readers_.at(node.id) != 1 || kept_.count(node.id)) return false;
        const int first = next.before.empty() ? next.id : next.before[0].id;
        return graph_[first].op == Op::output || kernel_of(node.id) == kernel_of(first);
    }
    void merge(PictureModule& module) {
        for (auto& one : module.modules) merge(*one);
        inline_cards(module);
        std::vector<PictureNode> kept;
        std::map<int, std::size_t> place;  // of each node that ends a card
        for (PictureNode& node : module.nodes) {
            const auto before = node.inputs.size() == 1 ? place.find(node.inputs[0]) : place.end();
            if (before == place.end() || !follows(node, kept[before->second])) {
                place[node.id] = kept.size();
                kept.push_back(std::move(node));
                continue;
            }
            const std::size_t at = before->second;
            PictureNode first = std::move(kept[at]);
            std::vector<PictureNode> nodes = std::move(first.before);
            node.inputs = first.inputs;
            nodes.push_back(std::move(first));
            std::move(node.before.begin(), node.before.end(), std::back_inserter(nodes));
            node.before = std::move(nodes);
            place.erase(before);
            place[node.id] = at;
            kept[at] = std::move(node);
        }
        module.nodes = std::move(kept);
    }
    static bool has_modules(const PictureNode& node) {
        const auto names_one = [](const PictureNode& one) {
            return one.title.find(": ") != one.title.npos;
        };
        return names_one(node) || std::any_of(node.before.begin(), node.before.end(), names_one);
    }
    /// Modules of one card become that card.
    static void inline_cards(PictureModule& module) {
        std::vector<std::unique_ptr<PictureModule>> kept;
        for (auto& one : module.modules) {
            const bool is_one_card = one->nodes.size() == 1 && one->modules.empty();
            if (!is_one_card || one->times > 1 || has_modules(one->nodes[0])) {
                kept.push_back(std::move(one));
                continue;
            }
            PictureNode node = std::move(one->nodes[0]);
            PictureNode& first = node.before.empty() ? node : node.before[0];
            first.title = one->name + ": " + first.title;
            module.nodes.push_back(std::move(node));
        }
        module.modules = std::move(kept);
        std::stable_sort(module.nodes.begin(), module.nodes.end(),
                         [](const PictureNode& a, const PictureNode& b) { return a.id < b.id; });
    }

    const Graph& graph_;
    const std::vector<int>& kernel_of_;
    std::map<int, int> readers_;
    std::set<int> kept_;
};

}  // namespace

void merge_chains(PictureModule& root, const Graph& graph, const std::vector<int>& kernel_of) {
    Chains(graph, kernel_of).run(root);
}

}  // namespace fovea::tool
