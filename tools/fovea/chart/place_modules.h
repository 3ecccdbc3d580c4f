// The modules of a picture laid out, each in the one around it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/fovea/chart/layered_layout.h"
#include "tools/fovea/chart/module_tree.h"

namespace fovea::tool {

/// Sizes of what is drawn, in pixels.
constexpr double kTextSize = 11, kTextLine = 15, kCardPad = 8, kFrameBorder = 16, kFrameHead = 22,
                 kBadgeWidth = 20;

/// A line of a card.
struct CardLine {
    enum class Kind { title, formula, parameter, output, kept, shape } kind = Kind::title;
    std::string words;
    std::vector<int> numbers{};  // of values kept by the other pass
    bool starts_node = false;
};

/// A node as it is drawn, with those that end in it.
struct Card {
    std::vector<CardLine> lines;
    double width = 0, height = 0;
};

/// A module with all that is in it laid out; places count from its upper left corner.
struct Placed {
    const PictureModule* module = nullptr;
    std::vector<Card> cards;      // of its nodes
    std::vector<Placed> modules;  // in it
    Layout layout;                // of cards, modules, then ports
    Point inside;                 // where the layout starts
    double width = 0, height = 0;
    std::map<int, double> in, out;  // where values cross its upper and lower side, from its left
};

/// `blks.block0 … blks.block5, 6 times`.
std::string heading_of(const PictureModule& module);

/// Arrows of forward run down, on the left; those of gradients up, beside it. Both passes of a
/// module are in its box.
class ModulePlacing {
  public:
    ModulePlacing(const Graph& graph, const PictureModule& root);

    Placed place();

    bool is_read(int id) const { return readers_.count(id) > 0; }
    /// The number of a value that the other pass reads, in the order of forward; 0: none.
    int kept_number(int id) const;
    bool has_kept() const { return !numbers_.empty(); }
    bool has_score() const { return has_score_; }

  private:
    struct Items;

    void collect(const PictureModule& module);
    Card card_of(const PictureNode& node) const;
    void add_lines(Card& card, const PictureNode& node, const std::string& next_shape) const;
    Placed place(const PictureModule& module);
    std::vector<LayoutEdge> connect(const Placed& placed, Items& items) const;
    void lift_outputs(const Placed& placed, std::vector<LayoutEdge>& edges) const;
    LayoutItem::Side side_of(const PictureModule& module) const;

    const Graph& graph_;
    const PictureModule& root_;
    std::map<int, const PictureNode*> nodes_;
    std::map<int, std::vector<int>> readers_;
    std::map<int, int> numbers_;
    bool has_score_ = false;
};

}  // namespace fovea::tool
