#include "tools/fovea/chart/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/fovea/chart/fold_modules.h"
#include "tools/fovea/chart/merge_chains.h"
#include "tools/fovea/chart/merge_results.h"
#include "tools/fovea/chart/place_modules.h"

namespace fovea::tool {

namespace {

constexpr double kMargin = 24, kLabel = 90, kStack = 5;

struct Colours {
    std::string_view fill, stroke;
};
constexpr Colours kInput{"#d9efe4", "#00805f"}, kOutput{"#d6e6f5", "#0072B2"},
    kParameter{"#fbe3d0", "#D55E00"}, kAttention{"#efdcea", "#9b3f86"}, kPlain{"#fff", "#777"},
    kGradient{"#fdf6ee", "#b0712a"};
constexpr std::string_view kKept = "#3b5bb5";
constexpr std::string_view kForwardLine = R"(fill="none" stroke="#888" stroke-width="1.2")",
                           kGradientLine = R"(fill="none" stroke="#c58a45" stroke-width="1.2")";
/// Kernels of several nodes, in turn.
constexpr std::string_view kKernels[] = {"#fdf3c5", "#dfeef9", "#e6f2d9", "#f9e0e0",
                                         "#e8e3f5", "#d8f0ee", "#f5e6d3", "#e9e9e9"};

class Picture {
  public:
    Picture(const Graph& graph, const std::vector<int>& group_of, RepeatedLayers layers)
        : graph_(graph),
          group_of_(group_of),
          tree_(tree_of(graph, group_of, layers)),
          placing_(graph, tree_) {
        for (int group : group_of_) ++members_[group];
    }

    std::string draw(const std::string& title) {
        const Placed placed = placing_.place();
        const double width = std::max(placed.width + 2 * kMargin + kLabel, 860.0);
        const double height = placed.height + 2 * kMargin + 52;
        Svg svg(width, height);
        svg.text({kMargin, 32}, title, {.size = 17, .bold = true});
        draw_legend(svg);
        draw_module(svg, placed, {(width - placed.width) / 2, 70}, 0);
        return svg.finish();
    }

  private:
    static PictureModule tree_of(const Graph& graph, const std::vector<int>& group_of,
                                 RepeatedLayers layers) {
        PictureModule tree = module_tree(graph);
        merge_results(tree, graph);
        if (layers == RepeatedLayers::once) fold_modules(tree, group_of);
        merge_chains(tree, graph, group_of);
        return tree;
    }

    /// What is in a module, whose own frame is there: arrows end on those of the modules in it.
    void draw_module(Svg& svg, const Placed& placed, Point corner, int depth) const {
        const Point inside{corner.x + placed.inside.x, corner.y + placed.inside.y};
        const auto place_of = [&](std::size_t item) {
            const Point p = placed.layout.corners[item];
            return Point{p.x + inside.x, p.y + inside.y};
        };
        for (std::size_t i = 0; i < placed.modules.size(); ++i)
            draw_frame(svg, placed.modules[i], place_of(placed.cards.size() + i), depth + 1);
        for (const std::vector<Point>& route : placed.layout.routes) {
            if (route.empty()) continue;
            std::vector<Point> points;
            for (Point p : route) points.push_back({p.x + inside.x, p.y + inside.y});
            const bool is_up = points.back().y < points.front().y;
            svg.curve(points, is_up ? kGradientLine : kForwardLine);
        }
        const double upper = inside.y, lower = inside.y + placed.layout.height;
        for (const auto* values : {&placed.in, &placed.out})
            for (const auto& [value, x] : *values) {
                const bool is_upper = graph_[value].backward == (values == &placed.out);
                svg.line({corner.x + x, is_upper ? corner.y : lower},
                         {corner.x + x, is_upper ? upper : corner.y + placed.height},
                         is_upper == (values == &placed.in) ? kForwardLine : kGradientLine);
            }
        for (std::size_t i = 0; i < placed.modules.size(); ++i)
            draw_module(svg, placed.modules[i], place_of(placed.cards.size() + i), depth + 1);
        for (std::size_t i = 0; i < placed.cards.size(); ++i)
            draw_card(svg, placed.module->nodes[i], placed.cards[i], place_of(i));
    }

    /// The frame of a module: of several that compute the same, a stack.
    static void draw_frame(Svg& svg, const Placed& placed, Point corner, int depth) {
        const std::string style =
            fmt::format(R"(rx="8" fill="{}" stroke="#aaa")", depth % 2 ? "#f6f6f6" : "#fdfdfd");
        const int behind = std::min(placed.module->times - 1, 2);
        for (int i = behind; i >= 0; --i)
            svg.rectangle(
                {corner.x + i * kStack, corner.y - i * kStack, corner.x + placed.width + i * kStack,
                 corner.y + placed.height - i * kStack},
                style);
        svg.text({corner.x + 10, corner.y + 15}, heading_of(*placed.module),
                 {.size = kTextSize + 1, .colour = "#444", .bold = true});
    }

    Colours colours_of(int id) const {
        const Node& node = graph_[id];
        if (node.op == Op::input) return kInput;
        if (node.op == Op::output) return kOutput;
        if (node.op == Op::attention || node.op == Op::fused_attention) return kAttention;
        const int group = kernel_of(id);
        if (group < 0) return node.backward ? kGradient : kPlain;
        return {kKernels[std::size_t(group) % std::size(kKernels)], "#777"};
    }
    /// The number of the kernel that computes a node with others, or -1.
    int kernel_of(int id) const {
        if (std::size_t(id) >= group_of_.size()) return -1;
        const int group = group_of_[std::size_t(id)];
        return group >= 0 && members_.at(group) > 1 ? group : -1;
    }
    void draw_card(Svg& svg, const PictureNode& node, const Card& card, Point corner) const {
        const Colours colours = colours_of(node.before.empty() ? node.id : node.before.back().id);
        std::string tip = fmt::format("%{}: {} {}", node.id, node.title, node.shape);
        if (kernel_of(node.id) >= 0) tip += fmt::format("; kernel {}", kernel_of(node.id));
        svg.begin_group(tip);
        svg.rectangle({corner.x, corner.y, corner.x + card.width, corner.y + card.height},
                      fmt::format(R"(rx="4" fill="{}" stroke="{}"{})", colours.fill, colours.stroke,
                                  graph_[node.id].backward ? R"( stroke-dasharray="4 3")" : ""));
        double y = corner.y + kTextLine - 1;
        for (const CardLine& line : card.lines) {
            draw_line(svg, line, corner.x, y, card.width);
            y += kTextLine;
        }
        svg.end_group();
        if (const int number = placing_.kept_number(node.id))
            draw_badge(svg, {corner.x + card.width - kBadgeWidth + 6, corner.y - 6}, number);
        if (!placing_.is_read(node.id)) return;
        const double below = graph_[node.id].backward ? -6 : card.height + 13;
        svg.text({corner.x + card.width / 2 + 5, corner.y + below}, node.shape,
                 {.size = kTextSize - 1, .colour = "#666", .halo = true});
    }
    /// `y`: where its letters stand.
    static void draw_line(Svg& svg, const CardLine& line, double x, double y, double width) {
        using Kind = CardLine::Kind;
        if (line.starts_node)
            svg.line({x, y - kTextLine + 4}, {x + width, y - kTextLine + 4}, R"(stroke="#ddd")");
        const bool is_output = line.kind == Kind::output;
        if (line.kind == Kind::parameter || is_output)
            svg.rectangle(
                {x + kCardPad - 4, y - kTextLine + 4, x + width - 4, y + 4},
                fmt::format(R"(rx="3" fill="{}")", is_output ? kOutput.fill : kParameter.fill));
        double left = x + kCardPad;
        for (int number : line.numbers) {
            draw_badge(svg, {left - 4, y - 10}, number);
            left += kBadgeWidth + 3;
        }
        const std::string_view colours[] = {
            "#111", kAttention.stroke, kParameter.stroke, kOutput.stroke, kKept, "#777"};
        TextStyle style{.size = kTextSize, .colour = colours[std::size_t(line.kind)]};
        if (line.kind == Kind::shape) style.size -= 1;
        svg.text({left, y}, line.words, style);
    }
    /// The number of a value that forward keeps for the gradient.
    static void draw_badge(Svg& svg, Point corner, int number) {
        svg.rectangle({corner.x, corner.y, corner.x + kBadgeWidth, corner.y + 13},
                      fmt::format(R"(rx="6" fill="{}")", kKept));
        svg.text({corner.x + kBadgeWidth / 2, corner.y + 10}, std::to_string(number),
                 {.size = 9.5, .anchor = Anchor::middle, .colour = "#fff", .bold = true});
    }

    void draw_legend(Svg& svg) const {
        double x = kMargin;
        const auto entry = [&](const std::string& words, const Colours& colours) {
            svg.rectangle({x, 46, x + 14, 58}, fmt::format(R"(rx="3" fill="{}" stroke="{}")",
                                                           colours.fill, colours.stroke));
            svg.text({x + 19, 56}, words, {.size = kTextSize});
            x += 34 + text_width(words, kTextSize);
        };
        entry("input", kInput);
        entry("output", kOutput);
        entry("parameter", kParameter);
        if (placing_.has_score()) entry("attention with its score", kAttention);
        if (!group_of_.empty()) entry("nodes of one kernel share a colour", {kKernels[0], "#777"});
        if (has_gradient()) entry("gradient, runs up", kGradient);
        if (placing_.has_kept()) {
            draw_badge(svg, {x, 46}, 1);
            svg.text({x + kBadgeWidth + 5, 56}, "kept by forward for the gradient",
                     {.size = kTextSize});
            x += kBadgeWidth + 20 + text_width("kept by forward for the gradient", kTextSize);
        }
        svg.text({x, 56}, "beside an arrow: the shape; f32 unless it says otherwise",
                 {.size = kTextSize, .colour = "#777"});
    }

    bool has_gradient() const {
        return std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                           [](const Node& node) { return node.backward; });
    }

    const Graph& graph_;
    const std::vector<int>& group_of_;
    PictureModule tree_;
    ModulePlacing placing_;
    std::map<int, int> members_;  // of each kernel
};

}  // namespace

std::string graph_picture(const Graph& graph, const std::string& title,
                          const std::vector<int>& group_of, RepeatedLayers layers) {
    return Picture(graph, group_of, layers).draw(title);
}

}  // namespace fovea::tool
