#include "tools/fovea/chart/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/fovea/chart/layered_layout.h"
#include "tools/fovea/chart/module_tree.h"

namespace fovea::tool {

namespace {

constexpr double kSize = 11, kLine = 15, kPad = 8, kBorder = 16, kHead = 22, kMargin = 24,
                 kLabel = 90;
constexpr double kMostWidth = 1600;
constexpr std::size_t kColumns = 34;  // of words in a node

struct Colours {
    std::string_view fill, stroke;
};
constexpr Colours kInput{"#d9efe4", "#00805f"}, kOutput{"#d6e6f5", "#0072B2"},
    kParameter{"#fbe3d0", "#D55E00"}, kAttention{"#efdcea", "#9b3f86"}, kPlain{"#fff", "#777"};
/// Kernels of several nodes, in turn.
constexpr std::string_view kKernels[] = {"#fdf3c5", "#dfeef9", "#e6f2d9", "#f9e0e0",
                                         "#e8e3f5", "#d8f0ee", "#f5e6d3", "#e9e9e9"};

/// Lines of at most `kColumns` characters, broken at blanks.
std::vector<std::string> wrapped(std::string text) {
    std::vector<std::string> lines;
    while (text.size() > kColumns) {
        std::size_t at = text.rfind(' ', kColumns);
        if (at == text.npos || at < kColumns / 3) at = std::min(text.find(' '), text.size());
        lines.push_back(text.substr(0, at));
        text.erase(0, std::min(at + 1, text.size()));
    }
    if (!text.empty()) lines.push_back(text);
    return lines;
}

/// A node as it is drawn.
struct Card {
    std::vector<std::string> title, formula;
    std::vector<std::string> parameters;
    double width = 0, height = 0;

    explicit Card(const PictureNode& node) : title(wrapped(node.title)) {
        for (const std::string& line : node.formula)
            for (std::string& part : wrapped(line)) formula.push_back(std::move(part));
        parameters = node.parameters;
        width = 1.15 * text_width(node.shape, kSize - 1);
        for (const auto* lines : {&title, &formula, &parameters})
            for (const std::string& line : *lines)
                width = std::max(width, 0.95 * text_width(line, kSize));
        width += 2 * kPad;
        height = kLine * double(title.size() + formula.size() + parameters.size()) + kPad;
    }
};

/// A module with all that is in it laid out; places count from its upper left corner.
struct Placed {
    const PictureModule* module = nullptr;
    std::vector<Card> cards;      // of its nodes
    std::vector<Placed> modules;  // in it
    Layout layout;                // of cards, modules, then ports
    Point inside;                 // where the layout starts
    double width = 0, height = 0;
    std::map<int, double> in, out;  // where values cross its upper and lower side
};

class Picture {
  public:
    Picture(const Graph& graph, const std::vector<int>& group_of)
        : graph_(graph), group_of_(group_of), tree_(module_tree(graph)) {
        collect(tree_);
        if (group_of_.empty()) return;
        for (int group : group_of_) ++members_[group];
    }

    std::string draw(const std::string& title) {
        const Placed placed = place(tree_);
        const double width = std::max(placed.width + 2 * kMargin + kLabel, 860.0);
        const double height = placed.height + 2 * kMargin + 52;
        Svg svg(width, height, std::min(width, kMostWidth));
        svg.text({kMargin, 32}, title, {.size = 17, .bold = true});
        draw_legend(svg);
        draw_module(svg, placed, {(width - placed.width) / 2, 70}, 0);
        return svg.finish();
    }

  private:
    void collect(const PictureModule& module) {
        for (const PictureNode& node : module.nodes)
            for (int input : node.inputs) {
                readers_[input].push_back(node.id);
                has_score_ = has_score_ || graph_[node.id].op == Op::attention;
            }
        for (const PictureNode& node : module.nodes) nodes_[node.id] = &node;
        for (const auto& one : module.modules) collect(*one);
    }
    /// The nodes of a module and of those in it.
    static void add_nodes(const PictureModule& module, std::set<int>& ids) {
        for (const PictureNode& node : module.nodes) ids.insert(node.id);
        for (const auto& one : module.modules) add_nodes(*one, ids);
    }

    Placed place(const PictureModule& module) {
        Placed placed;
        placed.module = &module;
        const bool is_root = &module == &tree_;
        if (module.same_as.empty()) {
            for (const PictureNode& node : module.nodes) placed.cards.emplace_back(node);
            for (const auto& one : module.modules) placed.modules.push_back(place(*one));
        }
        std::vector<LayoutItem> items;
        for (const Card& card : placed.cards) items.push_back({card.width, card.height});
        for (const Placed& one : placed.modules) items.push_back({one.width, one.height});
        std::map<int, int> ports_in, ports_out;
        const std::vector<LayoutEdge> edges = connect(placed, items, ports_in, ports_out);
        placed.inside = is_root ? Point{} : Point{kBorder, kHead};
        if (module.same_as.empty()) placed.layout = lay_out(items, edges);
        else place_ports_alone(placed, items);
        const std::string name =
            module.name + (module.same_as.empty() ? "" : ": as ") + module.same_as;
        placed.width = placed.layout.width + (is_root ? 0 : 2 * kBorder);
        placed.height = placed.layout.height + (is_root ? 0 : 2 * kHead);
        const double least = text_width(name, kSize + 1) + 2 * kBorder;
        if (!is_root && placed.width < least) {
            placed.inside.x += (least - placed.width) / 2;
            placed.width = least;
        }
        for (const auto& [ports, xs] :
             {std::pair{&ports_in, &placed.in}, std::pair{&ports_out, &placed.out}})
            for (const auto& [value, item] : *ports)
                (*xs)[value] = placed.inside.x + placed.layout.corners[std::size_t(item)].x + 3;
        return placed;
    }
    /// A module that is not drawn, but for what goes through its sides.
    static void place_ports_alone(Placed& placed, const std::vector<LayoutItem>& items) {
        double x = 0;
        for (std::size_t i = 0; i < items.size(); ++i, x += 14)
            placed.layout.corners.push_back({x, 0});
        placed.layout.width = x;
        placed.layout.height = 0;
    }

    /// Arrows between the items of a module; items for values that come from outside or go there.
    std::vector<LayoutEdge> connect(const Placed& placed, std::vector<LayoutItem>& items,
                                    std::map<int, int>& ports_in, std::map<int, int>& ports_out) {
        const PictureModule& module = *placed.module;
        std::map<int, int> item_of;  // of the nodes that are inside
        std::set<int> ids;
        add_nodes(module, ids);
        for (std::size_t i = 0; i < placed.cards.size(); ++i) item_of[module.nodes[i].id] = int(i);
        for (std::size_t i = 0; i < placed.modules.size(); ++i) {
            std::set<int> inner;
            add_nodes(*placed.modules[i].module, inner);
            for (int id : inner) item_of[id] = int(placed.cards.size() + i);
        }
        const auto port = [&](std::map<int, int>& ports, int value, LayoutItem::Rank rank) {
            const auto [at, is_new] = ports.try_emplace(value, int(items.size()));
            if (is_new) items.push_back({6, 0, rank});
            return at->second;
        };
        std::vector<LayoutEdge> edges;
        std::set<std::pair<int, std::pair<int, int>>> drawn;
        const auto connect_items = [&](int value, int from, int to) {
            if (from == to || !drawn.insert({value, {from, to}}).second) return;
            edges.push_back({from, to, end_of(placed, items, from, value, false),
                             end_of(placed, items, to, value, true)});
        };
        const bool is_drawn = module.same_as.empty();
        const auto item = [&](int id) { return is_drawn ? item_of.at(id) : 0; };
        for (int id : ids) {
            for (int input : nodes_.at(id)->inputs) {
                if (!nodes_.count(input)) continue;
                if (ids.count(input)) {
                    if (is_drawn) connect_items(input, item(input), item(id));
                    continue;
                }
                const int from = port(ports_in, input, LayoutItem::Rank::first);
                if (is_drawn) connect_items(input, from, item(id));
            }
            for (int reader : readers_[id]) {
                if (ids.count(reader)) continue;
                const int to = port(ports_out, id, LayoutItem::Rank::last);
                if (is_drawn) connect_items(id, item(id), to);
            }
        }
        return edges;
    }
    /// Where an arrow meets an item, from its left.
    static double end_of(const Placed& placed, const std::vector<LayoutItem>& items, int item,
                         int value, bool is_upper) {
        const std::size_t module = std::size_t(item) - placed.cards.size();
        if (std::size_t(item) >= placed.cards.size() && module < placed.modules.size()) {
            const Placed& inner = placed.modules[module];
            return (is_upper ? inner.in : inner.out).at(value);
        }
        return items[std::size_t(item)].width / 2;
    }

    void draw_module(Svg& svg, const Placed& placed, Point corner, int depth) const {
        const bool is_root = depth == 0;
        if (!is_root) {
            svg.rectangle({corner.x, corner.y, corner.x + placed.width, corner.y + placed.height},
                          fmt::format(R"(rx="8" fill="{}" stroke="#aaa")",
                                      depth % 2 ? "#f6f6f6" : "#fdfdfd"));
            const std::string same = placed.module->same_as;
            svg.text({corner.x + 10, corner.y + 15},
                     placed.module->name + (same.empty() ? "" : ": as " + same),
                     {.size = kSize + 1, .colour = "#444", .bold = true});
        }
        const Point inside{corner.x + placed.inside.x, corner.y + placed.inside.y};
        for (const std::vector<Point>& route : placed.layout.routes) {
            std::vector<Point> points;
            for (Point p : route) points.push_back({p.x + inside.x, p.y + inside.y});
            svg.curve(points, R"(fill="none" stroke="#888" stroke-width="1.2")");
        }
        if (!placed.module->same_as.empty()) return;
        for (const auto& [value, x] : placed.in)
            svg.line({corner.x + x, corner.y}, {corner.x + x, inside.y}, R"(stroke="#888")");
        for (const auto& [value, x] : placed.out)
            svg.line({corner.x + x, inside.y + placed.layout.height},
                     {corner.x + x, corner.y + placed.height}, R"(stroke="#888")");
        const auto place_of = [&](std::size_t item) {
            const Point p = placed.layout.corners[item];
            return Point{p.x + inside.x, p.y + inside.y};
        };
        for (std::size_t i = 0; i < placed.modules.size(); ++i)
            draw_module(svg, placed.modules[i], place_of(placed.cards.size() + i), depth + 1);
        for (std::size_t i = 0; i < placed.cards.size(); ++i)
            draw_card(svg, placed.module->nodes[i], placed.cards[i], place_of(i));
    }

    Colours colours_of(int id) const {
        const Node& node = graph_[id];
        if (node.op == Op::input) return kInput;
        if (node.op == Op::output) return kOutput;
        if (node.op == Op::attention || node.op == Op::fused_attention) return kAttention;
        const int group = kernel_of(id);
        if (group < 0) return kPlain;
        return {kKernels[std::size_t(group) % std::size(kKernels)], "#777"};
    }
    /// The number of the kernel that computes a node with others, or -1.
    int kernel_of(int id) const {
        if (std::size_t(id) >= group_of_.size()) return -1;
        const int group = group_of_[std::size_t(id)];
        return group >= 0 && members_.at(group) > 1 ? group : -1;
    }
    void draw_card(Svg& svg, const PictureNode& node, const Card& card, Point corner) const {
        const Colours colours = colours_of(node.id);
        std::string tip = fmt::format("%{}: {} {}", node.id, node.title, node.shape);
        if (kernel_of(node.id) >= 0) tip += fmt::format("; kernel {}", kernel_of(node.id));
        svg.begin_group(tip);
        svg.rectangle({corner.x, corner.y, corner.x + card.width, corner.y + card.height},
                      fmt::format(R"(rx="4" fill="{}" stroke="{}"{})", colours.fill, colours.stroke,
                                  graph_[node.id].backward ? R"( stroke-dasharray="4 3")" : ""));
        double y = corner.y + kLine - 1;
        const auto write = [&](const std::string& line, std::string_view colour) {
            svg.text({corner.x + kPad, y}, line, {.size = kSize, .colour = colour});
            y += kLine;
        };
        for (const std::string& line : card.title) write(line, "#111");
        for (const std::string& line : card.formula) write(line, kAttention.stroke);
        for (const std::string& line : card.parameters) {
            svg.rectangle({corner.x + kPad - 4, y - kLine + 4, corner.x + card.width - 4, y + 4},
                          fmt::format(R"(rx="3" fill="{}")", kParameter.fill));
            write(line, kParameter.stroke);
        }
        svg.end_group();
        const auto readers = readers_.find(node.id);
        if (readers == readers_.end() || readers->second.empty()) return;
        svg.text({corner.x + card.width / 2 + 5, corner.y + card.height + 13}, node.shape,
                 {.size = kSize - 1, .colour = "#777"});
    }

    void draw_legend(Svg& svg) const {
        double x = kMargin;
        const auto entry = [&](const std::string& words, const Colours& colours) {
            svg.rectangle({x, 46, x + 14, 58}, fmt::format(R"(rx="3" fill="{}" stroke="{}")",
                                                           colours.fill, colours.stroke));
            svg.text({x + 19, 56}, words, {.size = kSize});
            x += 34 + text_width(words, kSize);
        };
        entry("input", kInput);
        entry("output", kOutput);
        entry("parameter", kParameter);
        if (has_score_) entry("attention with its score", kAttention);
        if (!group_of_.empty()) entry("nodes of one kernel share a colour", {kKernels[0], "#777"});
        svg.text({x, 56}, "beside an arrow: the shape; f32 unless it says otherwise",
                 {.size = kSize, .colour = "#777"});
    }

    const Graph& graph_;
    const std::vector<int>& group_of_;
    PictureModule tree_;
    std::map<int, const PictureNode*> nodes_;
    std::map<int, std::vector<int>> readers_;
    std::map<int, int> members_;  // of each kernel
    bool has_score_ = false;
};

}  // namespace

std::string graph_picture(const Graph& graph, const std::string& title,
                          const std::vector<int>& group_of) {
    return Picture(graph, group_of).draw(title);
}

}  // namespace fovea::tool
