#include "tools/fovea/chart/module_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/graph/print.h"

namespace fovea::tool {

namespace {

bool is_elementwise(const Node& node) { return node.op == Op::elementwise; }

/// The operator of a formula: `+`; empty for functions, which are written `tanh(x)`.
std::string_view infix_of(const Node& node) {
    const std::string_view name =
        node.op == Op::elementwise ? row_of(node.function).name : std::string_view();
    constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
        {"add", " + "}, {"sub", " - "}, {"mul", " · "}, {"div", " / "}};
    for (const auto& [word, sign] : kOperators)
        if (name == word) return sign;
    return "";
}

class Tree {
  public:
    explicit Tree(const Graph& graph) : graph_(graph), constant_(graph.nodes.size(), false) {
        for (int id = 1; id < int(graph.nodes.size()); ++id)
            constant_[std::size_t(id)] = is_constant(graph[id]);
        find_paths();
    }

    PictureModule build() {
        PictureModule root;
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.region || node.op == Op::parameter || constant_[std::size_t(id)]) continue;
            module_of(root, id).nodes.push_back(picture_of(id));
        }
        simplify(root);
        return root;
    }

  private:
    /// A scalar made of constants alone: it is written where it is read.
    bool is_constant(const Node& node) const {
        if (node.region || node.shape.rank()) return false;
        if (node.op == Op::constant || node.op == Op::extent) return true;
        return is_elementwise(node) &&
               std::all_of(node.inputs.begin(), node.inputs.end(),
                           [&](int i) { return i <= 0 || constant_[std::size_t(i)]; });
    }
    PictureModule& child(PictureModule& module, const std::string& name) {
        for (auto& one : module.modules)
            if (one->name == name) return *one;
        module.modules.push_back(std::make_unique<PictureModule>());
        module.modules.back()->name = name;
        return *module.modules.back();
    }
    PictureModule& module_of(PictureModule& root, int id) {
        PictureModule* module = &root;
        for (const std::string& part : paths_[std::size_t(id)]) module = &child(*module, part);
        return *module;
    }
    using Path = std::vector<std::string>;

    bool is_shown(int id) const {
        const Node& node = graph_[id];
        return id > 0 && !node.region && node.op != Op::parameter && !constant_[std::size_t(id)];
    }
    /// The modules that nodes say they are of. One that says none, as operators do, is of the
    /// innermost module that holds all who read it and one that it reads.
    void find_paths() {
        const std::size_t count = graph_.nodes.size();
        paths_.resize(count);
        std::vector<std::set<Path>> above(count), below(count);
        for (int id = 1; id < int(count); ++id) {
            const Node& node = graph_[id];
            Path& path = paths_[std::size_t(id)];
            if (node.backward) path.emplace_back("gradients");
            const std::string text = is_shown(id) ? graph_.path(node.scope) : "";
            for (std::size_t start = 0; start < text.size();) {
                const std::size_t end = std::min(text.find('.', start), text.size());
                path.push_back(text.substr(start, end - start));
                start = end + 1;
            }
            for (int input : node.inputs) {
                if (!is_shown(input) || says_none(id)) continue;
                if (graph_[input].backward != node.backward) continue;
                below[std::size_t(input)].insert(path);
            }
        }
        for (int id = 1; id < int(count); ++id)
            for (int input : graph_[id].inputs) {
                if (!is_shown(input)) continue;
                auto& own = above[std::size_t(id)];
                if (!says_none(input)) own.insert(paths_[std::size_t(input)]);
                else if (graph_[input].backward == graph_[id].backward)
                    own.insert(above[std::size_t(input)].begin(), above[std::size_t(input)].end());
            }
        for (int id = int(count) - 1; id > 0; --id) {
            if (!is_shown(id) || !says_none(id)) continue;
            for (int input : graph_[id].inputs)
                if (is_shown(input) && says_none(input))
                    below[std::size_t(input)].insert(below[std::size_t(id)].begin(),
                                                     below[std::size_t(id)].end());
        }
        says_nothing_.resize(count);
        for (int id = 1; id < int(count); ++id)
            says_nothing_[std::size_t(id)] = is_shown(id) && says_none(id);
        for (int id = 1; id < int(count); ++id)
            if (says_nothing_[std::size_t(id)] && !is_leaf(graph_[id]))
                paths_[std::size_t(id)] = implied_path(
                    paths_[std::size_t(id)], above[std::size_t(id)], below[std::size_t(id)]);
        place_sources(above);
    }
    /// What reads nothing, like positions, is of the innermost module that holds all who read it.
    void place_sources(const std::vector<std::set<Path>>& above) {
        std::vector<std::set<Path>> readers(graph_.nodes.size());
        for (int id = int(graph_.nodes.size()) - 1; id > 0; --id) {
            if (!is_shown(id)) continue;
            auto& path = paths_[std::size_t(id)];
            const bool is_free = says_nothing_[std::size_t(id)] && above[std::size_t(id)].empty();
            if (is_free && !is_leaf(graph_[id]))
                path = implied_path({}, {}, readers[std::size_t(id)]);
            for (int input : graph_[id].inputs)
                if (input > 0) readers[std::size_t(input)].insert(path);
        }
    }
    static bool is_leaf(const Node& node) { return node.op == Op::input || node.op == Op::output; }
    bool says_none(int id) const {
        return paths_[std::size_t(id)].size() == std::size_t(graph_[id].backward);
    }
    static bool is_within(const Path& path, const Path& outer) {
        return path.size() >= outer.size() && std::equal(outer.begin(), outer.end(), path.begin());
    }
    static Path implied_path(const Path& own, const std::set<Path>& above,
                             const std::set<Path>& below) {
        if (below.empty()) return own;
        Path path = *below.begin();
        for (const Path& other : below)
            while (!is_within(other, path)) path.pop_back();
        const auto holds_one = [&] {
            return std::any_of(above.begin(), above.end(),
                               [&](const Path& one) { return is_within(one, path); });
        };
        while (!above.empty() && path.size() > own.size() && !holds_one()) path.pop_back();
        return is_within(path, own) ? path : own;
    }
    /// Sets the text of a node, and what it reads.
    PictureNode picture_of(int id) {
        const Node& node = graph_[id];
        PictureNode picture{.id = id, .title = print_op(graph_, id), .shape = shape_of(node)};
        if (node.op == Op::elementwise && row_of(node.function).name == "identity")
            picture.title = "copy";
        for (int input : node.inputs)
            if (input > 0) read(picture, input);
        if (node.op == Op::attention && !graph_.attentions.empty()) {
            const auto& attributes = graph_.attentions[std::size_t(node.attribute)];
            picture.title = picture.title.substr(0, picture.title.find(" score="));
            if (attributes.score > 0) {
                picture.formula.push_back("score = " + formula_of(attributes.score, picture, 0));
                add_dropout(picture, attributes.dropout);
            }
        }
        return picture;
    }
    static void add_dropout(PictureNode& picture, double probability) {
        if (probability > 0) picture.title += fmt::format(" dropout={}", probability);
    }
    void read(PictureNode& picture, int input) {
        const Node& node = graph_[input];
        const auto add = [](std::vector<std::string>& lines, const std::string& line) {
            if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
        };
        if (node.op == Op::parameter) {
            std::string path = graph_.path(node.scope);
            const std::size_t dot = path.rfind('.');
            add(picture.parameters,
                (dot == path.npos ? path : path.substr(dot + 1)) + " " + shape_of(node));
        } else if (constant_[std::size_t(input)]) {
            add(picture.formula, "with " + formula_of(input, picture, 0));
        } else if (std::find(picture.inputs.begin(), picture.inputs.end(), input) ==
                   picture.inputs.end()) {
            picture.inputs.push_back(input);
        }
    }
    std::string operand(const Node& node, std::size_t i, PictureNode& picture, int depth) {
        const int input = node.inputs[i];
        const std::string text = formula_of(input, picture, depth + 1);
        const Node& of = graph_[input];
        const bool inner = of.region || constant_[std::size_t(input)];
        const std::string_view sign = infix_of(node);
        const bool loose = inner && (infix_of(of) == " + " || infix_of(of) == " - " ||
                                     (infix_of(of) == " / " && i == 1));
        return loose && sign != " + " ? "(" + text + ")" : text;
    }
    /// A score, or a constant, as a formula. What it reads of the graph becomes an input.
    std::string formula_of(int id, PictureNode& picture, int depth) {
        constexpr std::string_view kParts[] = {"q", "k", "batch", "head", "i", "j"};
        constexpr int kDeepest = 40;
        const Node& node = graph_[id];
        if (depth > kDeepest) return "…";
        if (node.op == Op::parameter) {
            read(picture, id);
            const std::string path = graph_.path(node.scope);
            return path.substr(path.rfind('.') + 1);
        }
        if (!node.region && !constant_[std::size_t(id)]) {
            read(picture, id);
            return node.name.empty() ? fmt::format("%{}", id) : std::string(node.name);
        }
        if (node.op == Op::pair) return std::string(kParts[int(node.port.role) - int(Role::query)]);
        if (node.op == Op::constant) return fmt::format("{:.4g}", node.value);
        if (node.op == Op::extent) return print_op(graph_, id).substr(7);
        if (node.op == Op::elementwise && print_op(graph_, id).starts_with("cast")) {
            const std::string text = formula_of(node.inputs[0], picture, depth + 1);
            return text.find(' ') == text.npos ? text : "(" + text + ")";
        }
        if (node.op == Op::rearrange || node.op == Op::broadcast)
            return formula_of(node.inputs[0], picture, depth + 1);
        const std::string_view sign = infix_of(node);
        if (!sign.empty())
            return operand(node, 0, picture, depth) + std::string(sign) +
                   operand(node, 1, picture, depth);
        if (node.op == Op::gather)
            return formula_of(node.inputs[0], picture, depth + 1) + "[" +
                   formula_of(node.inputs[1], picture, depth + 1) + "]";
        const std::string op = print_op(graph_, id);
        std::string text = op.substr(0, op.find(' ')) + "(";
        for (std::size_t i = 0; i < node.inputs.size() && node.inputs[i] > 0; ++i)
            text += (i ? ", " : "") + formula_of(node.inputs[i], picture, depth + 1);
        return text + ")";
    }

    /// What a module computes, whatever its own name is: two with the same text do the same.
    static std::string text_of(const PictureModule& module) {
        std::string text = "(";
        for (const PictureNode& node : module.nodes) {
            text += node.title + node.shape;
            for (const auto* lines : {&node.parameters, &node.formula})
                for (const std::string& line : *lines) text += line + ";";
            text += fmt::format("{}", node.inputs.size());
        }
        for (const auto& inner : module.modules) text += inner->name + text_of(*inner);
        return text + ")";
    }
    static bool differ_in_number(const std::string& a, const std::string& b) {
        const auto stem = [](const std::string& name) {
            return name.substr(0, name.find_last_not_of("0123456789") + 1);
        };
        return a != b && stem(a) == stem(b);
    }
    void simplify(PictureModule& module) {
        for (auto& one : module.modules) simplify(*one);
        std::vector<std::unique_ptr<PictureModule>> kept;
        for (auto& one : module.modules) {
            if (one->nodes.empty()) {  // it holds modules alone: `blks`
                for (auto& inner : one->modules) {
                    inner->name = one->name + "." + inner->name;
                    if (!inner->same_as.empty()) inner->same_as = one->name + "." + inner->same_as;
                    kept.push_back(std::move(inner));
                }
            } else if (one->nodes.size() == 1 && one->modules.empty()) {
                PictureNode node = std::move(one->nodes[0]);
                node.title = one->name + ": " + node.title;
                module.nodes.push_back(std::move(node));
            } else {
                kept.push_back(std::move(one));
            }
        }
        module.modules = std::move(kept);
        for (std::size_t i = 1; i < module.modules.size(); ++i) {
            PictureModule &one = *module.modules[i], &before = *module.modules[i - 1];
            if (differ_in_number(one.name, before.name) && text_of(one) == text_of(before))
                one.same_as = before.same_as.empty() ? before.name : before.same_as;
        }
    }

    const Graph& graph_;
    std::vector<bool> constant_;
    std::vector<bool> says_nothing_;  // nodes that say no module
    std::vector<std::vector<std::string>> paths_;  // of modules, by node
};

}  // namespace

bool PictureModule::holds(int id) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.id == id; }) ||
           std::any_of(modules.begin(), modules.end(), [&](const auto& m) { return m->holds(id); });
}

std::string shape_of(const Node& node) {
    Text text;
    if (node.dtype != DType::f32) text << name_of(node.dtype) << " ";
    text << node.shape;
    return std::string(text.view());
}

PictureModule module_tree(const Graph& graph) { return Tree(graph).build(); }

}  // namespace fovea::tool
