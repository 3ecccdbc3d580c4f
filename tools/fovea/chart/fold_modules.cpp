#include "tools/fovea/chart/fold_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace fovea::tool {

namespace {

constexpr std::size_t kLongestTurn = 6;  // of layers that take turns

/// A name, and the number that it ends with.
std::string stem_of(const std::string& name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

template <class Use>
void each_node(PictureModule& module, const Use& use) {
    for (PictureNode& node : module.nodes) use(node);
    for (auto& inner : module.modules) each_node(*inner, use);
}

class Fold {
  public:
    explicit Fold(const std::vector<int>& group_of) : group_of_(group_of) {
        for (int group : group_of)
            if (group >= 0) ++members_[group];
    }

    void run(PictureModule& root) {
        fold(root);
        each_node(root, [&](PictureNode& node) {
            for (std::vector<int>* read : {&node.inputs, &node.kept}) {
                std::vector<int> drawn;
                for (int input : *read) add(drawn, drawn_as(input), node.id);
                *read = std::move(drawn);
            }
        });
    }

  private:
    using Modules = std::vector<std::unique_ptr<PictureModule>>;

    static void add(std::vector<int>& ids, int id, int own) {
        if (id != own && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    /// The node that is drawn for this one.
    int drawn_as(int id) const {
        for (auto at = drawn_.find(id); at != drawn_.end(); at = drawn_.find(id)) id = at->second;
        return id;
    }

    /// What a module computes, whatever its own name is: two with the same text do the same.
    std::string text_of(const PictureModule& module) const {
        std::map<int, std::size_t> kernels;
        return text_of(module, kernels);
    }
    std::string text_of(const PictureModule& module, std::map<int, std::size_t>& kernels) const {
        std::string text = "(";
        for (const PictureNode& node : module.nodes) {
            text += node.title + node.shape;
            for (const auto* lines : {&node.parameters, &node.formula, &node.gives})
                for (const std::string& line : *lines) text += line + ";";
            text += fmt::format("{},{}", node.inputs.size(), node.kept.size());
            const int group = kernel_of(node.id);
            if (group >= 0)
                text += fmt::format("k{}", kernels.emplace(group, kernels.size()).first->second);
        }
        for (const auto& inner : module.modules)
            text += fmt::format("{}{}", inner->name, inner->times) + text_of(*inner, kernels);
        return text + ")";
    }
    int kernel_of(int id) const {
        if (std::size_t(id) >= group_of_.size()) return -1;
        const int group = group_of_[std::size_t(id)];
        return group >= 0 && members_.at(group) > 1 ? group : -1;
    }

    void fold(PictureModule& module) {
        for (auto& one : module.modules) fold(*one);
        std::vector<std::string> texts;
        for (const auto& one : module.modules) texts.push_back(text_of(*one));
        const auto same = [&](std::size_t a, std::size_t b) {
            const std::string &left = module.modules[a]->name, &right = module.modules[b]->name;
            return left != right && stem_of(left) == stem_of(right) && texts[a] == texts[b];
        };
        Modules kept;
        const std::size_t count = module.modules.size();
        for (std::size_t start = 0; start < count;) {
            std::size_t turn = 1, times = 1;
            for (std::size_t length = 1; length <= kLongestTurn && times == 1; ++length) {
                std::size_t end = start + length;
                while (end < count && same(end - length, end)) ++end;
                turn = length;
                times = (end - start) / length;
            }
            if (times == 1) turn = 1;
            kept.push_back(one_of(module.modules, start, turn, times));
            start += turn * times;
        }
        module.modules = std::move(kept);
    }

    /// `times` turns of `turn` modules each as one module.
    std::unique_ptr<PictureModule> one_of(Modules& modules, std::size_t start, std::size_t turn,
                                          std::size_t times) {
        if (times == 1) return std::move(modules[start]);
        const std::string last = modules[start + turn * times - 1]->name;
        merge(modules, start, turn, times);
        std::unique_ptr<PictureModule> all;
        if (turn == 1) {
            all = std::move(modules[start]);
        } else {
            all = std::make_unique<PictureModule>();
            all->name = modules[start]->name;
            for (std::size_t i = 0; i < turn; ++i)
                all->modules.push_back(std::move(modules[start + i]));
        }
        all->last = last;
        all->times = int(times);
        return all;
    }
    /// What the nodes of all turns read and give goes to those of the first.
    void merge(Modules& modules, std::size_t start, std::size_t turn, std::size_t times) {
        std::map<int, std::size_t> turn_of;
        std::vector<std::vector<PictureNode*>> nodes(times);
        for (std::size_t i = 0; i < turn * times; ++i)
            each_node(*modules[start + i], [&](PictureNode& node) {
                turn_of[node.id] = i / turn;
                nodes[i / turn].push_back(&node);
            });
        const auto is_handed_on = [&](int input, std::size_t to) {
            const auto from = turn_of.find(drawn_as(input));
            return from != turn_of.end() && from->second != to;
        };
        for (std::size_t i = 0; i < nodes[0].size(); ++i) {
            std::vector<int> read;
            for (std::size_t t = 0; t < times; ++t)
                for (int input : nodes[t][i]->inputs)
                    if (!is_handed_on(input, t) && (t == 0 || !turn_of.count(drawn_as(input))))
                        add(read, input, nodes[0][i]->id);
            nodes[0][i]->inputs = std::move(read);
        }
        for (std::size_t t = 1; t < times; ++t)
            for (std::size_t i = 0; i < nodes[t].size(); ++i)
                drawn_[nodes[t][i]->id] = nodes[0][i]->id;
    }

    const std::vector<int>& group_of_;
    std::map<int, int> members_;  // of each kernel
    std::map<int, int> drawn_;
};

}  // namespace

void fold_modules(PictureModule& root, const std::vector<int>& group_of) {
    Fold(group_of).run(root);
}

}  // namespace fovea::tool
