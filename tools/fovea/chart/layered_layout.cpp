#include "tools/fovea/chart/layered_layout.h"

#include <algorithm>
#include <numeric>

#include "tools/fovea/chart/assign_columns.h"

namespace fovea::tool {

namespace {

/// An item, or where a long edge passes a layer.
struct Vertex {
    double width = 0, height = 0;
    int layer = 0;
    LayoutItem::Side side = LayoutItem::Side::middle;
    double x = 0, place = 0;  // its left side; what orders it in its layer
};

/// A piece of an edge, from a layer to the next.
struct Piece {
    int from, to;
    double from_x, to_x;
};

class Drawing {
  public:
    Drawing(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
            const LayoutGaps& gaps)
        : items_(items), edges_(edges), gaps_(gaps) {
        // What runs up is laid out the other way round.
        for (LayoutEdge& edge : edges_)
            if (edge.up) {
                std::swap(edge.from, edge.to);
                std::swap(edge.from_x, edge.to_x);
                has_two_ways_ = true;
            }
    }

    Layout draw() {
        if (items_.empty()) return {};
        for (const LayoutItem& item : items_)
            vertices_.push_back({.width = item.width, .height = item.height, .side = item.side});
        choose_layers();
        for (const LayoutEdge& edge : edges_) add_pieces(edge);
        fill_layers();
        for (int sweep = 0; sweep < 24; ++sweep) order(sweep % 2 == 0);
        place();
        return result();
    }

  private:
    /// Edges that close a cycle, seen from the first item, are left out of the layers.
    void choose_layers() {
        enum class Seen { no, open, done };
        std::vector<Seen> seen(items_.size(), Seen::no);
        std::vector<std::vector<std::size_t>> out(items_.size());
        for (std::size_t e = 0; e < edges_.size(); ++e)
            out[std::size_t(edges_[e].from)].push_back(e);
        runs_up_.assign(edges_.size(), false);
        std::vector<int> finished;
        const auto visit = [&](const auto& self, int item) -> void {
            seen[std::size_t(item)] = Seen::open;
            for (std::size_t e : out[std::size_t(item)]) {
                const Seen next = seen[std::size_t(edges_[e].to)];
                if (next == Seen::open) runs_up_[e] = true;
                else if (next == Seen::no) self(self, edges_[e].to);
            }
            seen[std::size_t(item)] = Seen::done;
            finished.push_back(item);
        };
        for (std::size_t i = 0; i < items_.size(); ++i)
            if (seen[i] == Seen::no) visit(visit, int(i));
        const auto is = [&](int item, LayoutItem::Rank rank) {
            return items_[std::size_t(item)].rank == rank;
        };
        const bool has_first = std::any_of(items_.begin(), items_.end(), [](const auto& item) {
            return item.rank == LayoutItem::Rank::first;
        });
        for (std::size_t i = 0; i < items_.size(); ++i)
            vertices_[i].layer = has_first && !is(int(i), LayoutItem::Rank::first);
        int last = 0;
        for (auto item = finished.rbegin(); item != finished.rend(); ++item) {
            const int layer = vertices_[std::size_t(*item)].layer;
            if (!is(*item, LayoutItem::Rank::last)) last = std::max(last, layer);
            for (std::size_t e : out[std::size_t(*item)]) {
                int& next = vertices_[std::size_t(edges_[e].to)].layer;
                if (!runs_up_[e]) next = std::max(next, layer + 1);
            }
        }
        for (std::size_t i = 0; i < items_.size(); ++i)
            if (is(int(i), LayoutItem::Rank::last)) vertices_[i].layer = last + 1;
        if (has_two_ways_) sink_all(out, finished);
        sink_sources(out);
    }
    /// Each item as low as what is below it lets it: modules that lead to the same one come to
    /// stand side by side, however their gradients are added up above them.
    void sink_all(const std::vector<std::vector<std::size_t>>& out,
                  const std::vector<int>& finished) {
        for (const int item : finished) {
            if (items_[std::size_t(item)].rank != LayoutItem::Rank::any) continue;
            int lowest = 1 << 30;
            for (std::size_t e : out[std::size_t(item)])
                if (!runs_up_[e])
                    lowest = std::min(lowest, vertices_[std::size_t(edges_[e].to)].layer - 1);
            int& layer = vertices_[std::size_t(item)].layer;
            if (lowest < 1 << 30) layer = std::max(layer, lowest);
        }
    }
    /// What has nothing above it stands right above what reads it.
    void sink_sources(const std::vector<std::vector<std::size_t>>& out) {
        std::vector<bool> has_input(items_.size(), false);
        for (const LayoutEdge& edge : edges_) has_input[std::size_t(edge.to)] = true;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (has_input[i] || items_[i].rank != LayoutItem::Rank::any || out[i].empty()) continue;
            int nearest = 1 << 30;
            for (std::size_t e : out[i])
                nearest = std::min(nearest, vertices_[std::size_t(edges_[e].to)].layer);
            vertices_[i].layer = std::max(vertices_[i].layer, nearest - 1);
        }
    }
    void add_pieces(const LayoutEdge& edge) {
        std::vector<int>& way = ways_.emplace_back();
        const int from = vertices_[std::size_t(edge.from)].layer;
        const int to = vertices_[std::size_t(edge.to)].layer;
        way.push_back(edge.from);
        using Side = LayoutItem::Side;
        const Side side = !has_two_ways_ ? Side::middle : edge.up ? Side::right : Side::left;
        for (int layer = from + 1; layer < to && !edge.hidden; ++layer) {
            way.push_back(int(vertices_.size()));
            vertices_.push_back({.width = 6, .height = 0, .layer = layer, .side = side});
        }
        way.push_back(edge.to);
        if (to <= from || edge.hidden) return;  // it runs up, and has no say in where items stand
        for (std::size_t i = 0; i + 1 < way.size(); ++i)
            pieces_.push_back(
                {way[i], way[i + 1], i ? 3 : edge.from_x, i + 2 < way.size() ? 3 : edge.to_x});
    }
    void fill_layers() {
        int last = 0;
        for (const Vertex& vertex : vertices_) last = std::max(last, vertex.layer);
        layers_.resize(std::size_t(last) + 1);
        for (std::size_t v = 0; v < vertices_.size(); ++v)
            layers_[std::size_t(vertices_[v].layer)].push_back(int(v));
        for (auto& layer : layers_) number(layer);
        above_.resize(vertices_.size());
        below_.resize(vertices_.size());
        for (std::size_t p = 0; p < pieces_.size(); ++p) {
            above_[std::size_t(pieces_[p].to)].push_back(p);
            below_[std::size_t(pieces_[p].from)].push_back(p);
        }
    }
    void number(const std::vector<int>& layer) {
        double sum = 0;
        for (int v : layer) {
            Vertex& vertex = vertices_[std::size_t(v)];
            vertex.place = sum + vertex.width / 2;
            sum += vertex.width + gaps_.across;
        }
    }
    /// One sweep: each layer in the order of the means of its neighbours in the layer before.
    void order(bool downward) {
        const int count = int(layers_.size());
        for (int step = 1; step < count; ++step) {
            auto& layer = layers_[std::size_t(downward ? step : count - 1 - step)];
            struct Keyed {
                LayoutItem::Side side;
                double mean;
                int vertex;
            };
            std::vector<Keyed> keyed;
            for (int v : layer) {
                const auto& pieces = (downward ? above_ : below_)[std::size_t(v)];
                double sum = 0;
                for (std::size_t p : pieces) {
                    const Piece& piece = pieces_[p];
                    const Vertex& other = vertices_[std::size_t(downward ? piece.from : piece.to)];
                    sum += other.place - other.width / 2 + (downward ? piece.from_x : piece.to_x);
                }
                const Vertex& vertex = vertices_[std::size_t(v)];
                keyed.push_back(
                    {vertex.side, pieces.empty() ? vertex.place : sum / double(pieces.size()), v});
            }
            std::stable_sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
                return a.side != b.side ? a.side < b.side : a.mean < b.mean;
            });
            for (std::size_t i = 0; i < layer.size(); ++i) layer[i] = keyed[i].vertex;
            number(layer);
        }
    }
    void place() {
        std::vector<ColumnVertex> vertices;
        for (std::size_t v = 0; v < vertices_.size(); ++v)
            vertices.push_back({vertices_[v].width, v >= items_.size()});
        std::vector<ColumnEdge> edges;
        for (const Piece& piece : pieces_)
            edges.push_back({piece.from, piece.to, piece.from_x, piece.to_x});
        const std::vector<double> columns = assign_columns(vertices, layers_, edges, gaps_.across);
        for (std::size_t v = 0; v < vertices_.size(); ++v) vertices_[v].x = columns[v];
    }
    Layout result() {
        Layout layout;
        double left = 1e30, right = -1e30, y = 0;
        for (const Vertex& vertex : vertices_) {
            left = std::min(left, vertex.x);
            right = std::max(right, vertex.x + vertex.width);
        }
        std::vector<double> tops, heights;
        for (const auto& layer : layers_) {
            double height = 0;
            for (int v : layer) height = std::max(height, vertices_[std::size_t(v)].height);
            tops.push_back(y);
            heights.push_back(height);
            y += height + gaps_.down;
        }
        for (std::size_t i = 0; i < items_.size(); ++i)
            layout.corners.push_back(
                {vertices_[i].x - left, tops[std::size_t(vertices_[i].layer)]});
        for (std::size_t e = 0; e < edges_.size(); ++e)
            layout.routes.push_back(edges_[e].hidden ? std::vector<Point>{}
                                                     : route(e, left, tops, heights));
        layout.width = right - left;
        layout.height = y - gaps_.down;
        return layout;
    }
    std::vector<Point> route(std::size_t e, double left, const std::vector<double>& tops,
                             const std::vector<double>& heights) const {
        const LayoutEdge& edge = edges_[e];
        const std::vector<int>& way = ways_[e];
        std::vector<Point> points;
        for (std::size_t i = 0; i < way.size(); ++i) {
            const Vertex& vertex = vertices_[std::size_t(way[i])];
            const double x = vertex.x - left, top = tops[std::size_t(vertex.layer)];
            if (i == 0) {
                points.push_back({x + edge.from_x, top + vertex.height});
                // Past what is higher in its layer, straight down.
                const double bottom = top + heights[std::size_t(vertex.layer)];
                if (bottom > points.back().y) points.push_back({x + edge.from_x, bottom});
            } else if (i + 1 == way.size()) {
                points.push_back({x + edge.to_x, top});
            } else {
                points.push_back({x + 3, top});
                points.push_back({x + 3, top + heights[std::size_t(vertex.layer)]});
            }
        }
        if (edge.up) std::reverse(points.begin(), points.end());
        return points;
    }

    const std::vector<LayoutItem>& items_;
    std::vector<LayoutEdge> edges_;
    const LayoutGaps& gaps_;
    bool has_two_ways_ = false;
    std::vector<Vertex> vertices_;
    std::vector<bool> runs_up_;
    std::vector<std::vector<int>> ways_;  // of each edge: the vertices that it passes
    std::vector<Piece> pieces_;
    std::vector<std::vector<int>> layers_;
    std::vector<std::vector<std::size_t>> above_, below_;  // pieces by vertex
};

}  // namespace

Layout lay_out(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
               const LayoutGaps& gaps) {
    return Drawing(items, edges, gaps).draw();
}

}  // namespace fovea::tool
