#include "tools/fovea/chart/module_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/graph/print.h"
#include "tools/fovea/chart/node_paths.h"

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
        for (int id = 0; id < int(graph.nodes.size()); ++id) {
            const Node& node = graph[id];
            shown_.push_back(id > 0 && !node.region && node.op != Op::parameter &&
                             !constant_[std::size_t(id)]);
        }
        paths_ = node_paths(graph, shown_);
    }

    PictureModule build() {
        PictureModule root;
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (shown_[std::size_t(id)]) module_of(root, id).nodes.push_back(picture_of(id));
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
    /// Sets the text of a node, and what it reads.
    PictureNode picture_of(int id) {
        const Node& node = graph_[id];
        PictureNode picture{.id = id, .title = title_of(id), .shape = shape_of(node)};
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
    /// The gradient of a parameter is named in its module; where random numbers come from differs
    /// from layer to layer, and is left out.
    std::string title_of(int id) const {
        const Node& node = graph_[id];
        if (node.op != Op::output || !node.backward || paths_[std::size_t(id)].empty()) {
            const std::string title = print_op(graph_, id);
            const std::size_t site = title.find(" site=");
            return site == title.npos
                       ? title
                       : title.substr(0, site) +
                             title.substr(std::min(title.find(' ', site + 1), title.size()));
        }
        const std::string path = graph_.path(node.scope);
        return "output " + path.substr(path.rfind('.') + 1) + ".grad";
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
        } else {
            auto& inputs =
                node.backward == graph_[picture.id].backward ? picture.inputs : picture.kept;
            if (std::find(inputs.begin(), inputs.end(), input) == inputs.end())
                inputs.push_back(input);
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

    static bool ends_with_digit(const std::string& name) {
        return !name.empty() && std::isdigit(static_cast<unsigned char>(name.back()));
    }
    void simplify(PictureModule& module) {
        for (auto& one : module.modules) simplify(*one);
        std::vector<std::unique_ptr<PictureModule>> kept;
        for (auto& one : module.modules) {
            const bool is_layer = one->modules.size() > 1 && ends_with_digit(one->name);
            if (one->nodes.empty() && !is_layer) {  // it holds modules alone: `blks`
                for (auto& inner : one->modules) {
                    if (!inner->name.starts_with(one->name + "."))
                        inner->name = one->name + "." + inner->name;
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
        for (auto& one : kept)  // a number says little alone
            if (!module.name.empty() && std::isdigit(static_cast<unsigned char>(one->name[0])))
                one->name = module.name + "." + one->name;
        module.modules = std::move(kept);
    }

    const Graph& graph_;
    std::vector<bool> constant_;
    std::vector<bool> shown_;
    std::vector<ModulePath> paths_;
};

}  // namespace

std::string shape_of(const Node& node) {
    Text text;
    if (node.dtype != DType::f32) text << name_of(node.dtype) << " ";
    text << node.shape;
    return std::string(text.view());
}

PictureModule module_tree(const Graph& graph) { return Tree(graph).build(); }

}  // namespace fovea::tool
