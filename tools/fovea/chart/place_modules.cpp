#include "tools/fovea/chart/place_modules.h"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::tool {

namespace {

constexpr std::size_t kColumns = 38;  // of words in a node

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

/// What a node is in short: `W_q: einsum`, `input x`.
std::string short_title(const std::string& title) {
    const std::size_t colon = title.find(": ");
    const std::size_t start = colon == title.npos ? 0 : colon + 2;
    if (title.substr(start).starts_with("input ")) return title;
    return title.substr(0, title.find(' ', start));
}

/// The nodes of a module and of those in it.
void add_nodes(const PictureModule& module, std::set<int>& ids) {
    for (const PictureNode& node : module.nodes) ids.insert(node.id);
    for (const auto& one : module.modules) add_nodes(*one, ids);
}

}  // namespace

std::string heading_of(const PictureModule& module) {
    if (module.times == 1) return module.name;
    return fmt::format("{} … {}: {} times", module.name, module.last, module.times);
}

/// What a layout places, with the ports among it.
struct ModulePlacing::Items {
    std::vector<LayoutItem> items;
    std::map<int, int> in, out;  // the item of each value that crosses a side

    int port(std::map<int, int>& ports, int value, LayoutItem::Rank rank, LayoutItem::Side side) {
        const auto [at, is_new] = ports.try_emplace(value, int(items.size()));
        if (is_new) items.push_back({6, 0, rank, side});
        return at->second;
    }
};

ModulePlacing::ModulePlacing(const Graph& graph, const PictureModule& root)
    : graph_(graph), root_(root) {
    collect(root);
    std::set<int> kept;
    for (const auto& [id, node] : nodes_) {
        kept.insert(node->kept.begin(), node->kept.end());
        for (const PictureNode& before : node->before)
            kept.insert(before.kept.begin(), before.kept.end());
    }
    for (int id : kept)
        if (nodes_.count(id)) numbers_.emplace(id, int(numbers_.size()) + 1);
}

void ModulePlacing::collect(const PictureModule& module) {
    for (const PictureNode& node : module.nodes) {
        nodes_[node.id] = &node;
        for (int input : node.inputs) readers_[input].push_back(node.id);
        has_score_ = has_score_ || graph_[node.id].op == Op::attention;
    }
    for (const auto& one : module.modules) collect(*one);
}

int ModulePlacing::kept_number(int id) const {
    const auto number = numbers_.find(id);
    return number == numbers_.end() ? 0 : number->second;
}

/// `next_shape`: of the node below it in its card, which is all that reads it; empty: none.
void ModulePlacing::add_lines(Card& card, const PictureNode& node,
                              const std::string& next_shape) const {
    using Kind = CardLine::Kind;
    const std::size_t start = card.lines.size();
    const bool is_output = graph_[node.id].op == Op::output;
    for (std::string& line : wrapped(node.title))
        card.lines.push_back({is_output ? Kind::output : Kind::title, std::move(line)});
    card.lines[start].starts_node = start > 0;
    for (const std::string& line : node.formula)
        for (std::string& part : wrapped(line))
            card.lines.push_back({Kind::formula, std::move(part)});
    for (const std::string& line : node.gives)
        for (std::string& part : wrapped(line))
            card.lines.push_back({Kind::shape, std::move(part)});
    for (const std::string& line : node.parameters) card.lines.push_back({Kind::parameter, line});
    std::vector<CardLine> kept;
    for (int id : node.kept)
        if (const int number = kept_number(id))
            kept.push_back({Kind::kept, short_title(nodes_.at(id)->title), {number}});
    if (kept.size() > 2) {  // their numbers alone
        for (std::size_t i = 1; i < kept.size(); ++i) kept[0].numbers.push_back(kept[i].numbers[0]);
        kept[0].words.clear();
        kept.resize(1);
    }
    card.lines.insert(card.lines.end(), kept.begin(), kept.end());
    if (!next_shape.empty() && next_shape != node.shape)
        card.lines.push_back({Kind::shape, node.shape});
}

/// What runs up is read from below: the last node is at the top of its card.
Card ModulePlacing::card_of(const PictureNode& node) const {
    std::vector<const PictureNode*> nodes;
    for (const PictureNode& before : node.before) nodes.push_back(&before);
    nodes.push_back(&node);
    std::vector<std::string> next(nodes.size());
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) next[i] = nodes[i + 1]->shape;
    if (graph_[node.id].backward) {
        std::reverse(nodes.begin(), nodes.end());
        std::reverse(next.begin(), next.end());
    }
    Card card;
    for (std::size_t i = 0; i < nodes.size(); ++i) add_lines(card, *nodes[i], next[i]);
    if (is_read(node.id)) card.width = 0.9 * text_width(node.shape, kTextSize - 1);
    for (const CardLine& line : card.lines) {
        double width = 1.06 * text_width(line.words, kTextSize);
        width += (kBadgeWidth + 3) * double(line.numbers.size());
        card.width = std::max(card.width, width);
    }
    card.width += 2 * kCardPad;
    card.height = kCardPad + kTextLine * double(card.lines.size());
    return card;
}

LayoutItem::Side ModulePlacing::side_of(const PictureModule& module) const {
    std::set<int> ids;
    add_nodes(module, ids);
    bool forward = false, backward = false;
    for (int id : ids) (graph_[id].backward ? backward : forward) = true;
    using Side = LayoutItem::Side;
    return forward && backward ? Side::middle : backward ? Side::right : Side::left;
}

Placed ModulePlacing::place() { return place(root_); }

Placed ModulePlacing::place(const PictureModule& module) {
    Placed placed;
    placed.module = &module;
    const bool is_root = &module == &root_;
    Items items;
    for (const PictureNode& node : module.nodes) {
        const Card& card = placed.cards.emplace_back(card_of(node));
        items.items.push_back(
            {card.width, card.height, LayoutItem::Rank::any,
             graph_[node.id].backward ? LayoutItem::Side::right : LayoutItem::Side::left});
    }
    for (const auto& one : module.modules) {
        const Placed& inner = placed.modules.emplace_back(place(*one));
        items.items.push_back({inner.width, inner.height, LayoutItem::Rank::any, side_of(*one)});
    }
    const std::vector<LayoutEdge> edges = connect(placed, items);
    placed.inside = is_root ? Point{} : Point{kFrameBorder, kFrameHead};
    placed.layout = lay_out(items.items, edges);
    placed.width = placed.layout.width + (is_root ? 0 : 2 * kFrameBorder);
    placed.height = placed.layout.height + (is_root ? 0 : 2 * kFrameHead);
    const double least = text_width(heading_of(module), kTextSize + 1) + 2 * kFrameBorder;
    if (!is_root && placed.width < least) {
        placed.inside.x += (least - placed.width) / 2;
        placed.width = least;
    }
    for (const auto& [ports, xs] :
         {std::pair{&items.in, &placed.in}, std::pair{&items.out, &placed.out}})
        for (const auto& [value, item] : *ports)
            (*xs)[value] = placed.inside.x + placed.layout.corners[std::size_t(item)].x + 3;
    return placed;
}

/// The gradients of parameters stand above each other, and above what else reads the same: a module
/// is narrower so.
void ModulePlacing::lift_outputs(const Placed& placed, std::vector<LayoutEdge>& edges) const {
    const auto& nodes = placed.module->nodes;
    std::map<int, std::vector<int>> readers, outputs;  // cards, by the item that they read
    for (const LayoutEdge& edge : edges) {
        if (!edge.up || std::size_t(edge.to) >= nodes.size()) continue;
        const bool is_output = graph_[nodes[std::size_t(edge.to)].id].op == Op::output;
        (is_output ? outputs : readers)[edge.from].push_back(edge.to);
    }
    for (const auto& [source, lifted] : outputs) {
        for (int reader : readers[source]) edges.push_back({reader, lifted[0], 0, 0, true, true});
        for (std::size_t i = 1; i < lifted.size(); ++i)
            edges.push_back({lifted[i - 1], lifted[i], 0, 0, true, true});
    }
}

/// Arrows between the items of a module; items for values that come from outside or go there.
std::vector<LayoutEdge> ModulePlacing::connect(const Placed& placed, Items& items) const {
    const PictureModule& module = *placed.module;
    std::map<int, int> item_of;  // of the nodes that are inside
    for (std::size_t i = 0; i < placed.cards.size(); ++i) item_of[module.nodes[i].id] = int(i);
    for (std::size_t i = 0; i < placed.modules.size(); ++i) {
        std::set<int> inner;
        add_nodes(*placed.modules[i].module, inner);
        for (int id : inner) item_of[id] = int(placed.cards.size() + i);
    }
    std::vector<LayoutEdge> edges;
    std::set<std::pair<int, std::pair<int, int>>> drawn;
    // Where an arrow meets an item, from its left.
    const auto end_of = [&](int item, int value, bool enters) {
        const std::size_t inner = std::size_t(item) - placed.cards.size();
        if (std::size_t(item) >= placed.cards.size() && inner < placed.modules.size())
            return (enters ? placed.modules[inner].in : placed.modules[inner].out).at(value);
        return items.items[std::size_t(item)].width / 2;
    };
    const auto connect_items = [&](int value, int from, int to) {
        if (from == to || !drawn.insert({value, {from, to}}).second) return;
        edges.push_back({from, to, end_of(from, value, false), end_of(to, value, true),
                         graph_[value].backward});
    };
    using Rank = LayoutItem::Rank;
    using Side = LayoutItem::Side;
    for (const auto& [id, item] : item_of) {
        const bool backward = graph_[id].backward;
        const Side side = backward ? Side::right : Side::left;
        const Rank start = backward ? Rank::last : Rank::first;
        const Rank end = backward ? Rank::first : Rank::last;
        for (int input : nodes_.at(id)->inputs) {
            if (!nodes_.count(input)) continue;
            const auto inner = item_of.find(input);
            connect_items(
                input,
                inner != item_of.end() ? inner->second : items.port(items.in, input, start, side),
                item);
        }
        const auto readers = readers_.find(id);
        if (readers == readers_.end()) continue;
        for (int reader : readers->second)
            if (!item_of.count(reader))
                connect_items(id, item, items.port(items.out, id, end, side));
    }
    lift_outputs(placed, edges);
    return edges;
}

}  // namespace fovea::tool
