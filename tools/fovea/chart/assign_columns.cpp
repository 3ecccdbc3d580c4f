#include "tools/fovea/chart/assign_columns.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fovea::tool {

namespace {

using Layers = std::vector<std::vector<int>>;

/// An edge as one of its ends sees it: `shift` is how far the other end's left side is to the right
/// of its own when the edge is upright.
struct Neighbour {
    int vertex;
    double shift;
};

/// One of four assignments: vertices are aligned with their neighbours in the layer before, those
/// on the left first, and pushed to the left. The others see the drawing turned around.
class Alignment {
  public:
    Alignment(const std::vector<ColumnVertex>& vertices, const Layers& layers,
              const std::vector<std::vector<Neighbour>>& before, double gap)
        : vertices_(vertices),
          layers_(layers),
          before_(before),
          gap_(gap),
          place_(vertices.size()),
          root_(vertices.size()),
          shift_(vertices.size(), 0) {
        for (const auto& layer : layers)
            for (std::size_t i = 0; i < layer.size(); ++i) place_[std::size_t(layer[i])] = int(i);
        std::iota(root_.begin(), root_.end(), 0);
    }

    std::vector<double> columns() {
        for (std::size_t layer = 1; layer < layers_.size(); ++layer) align(layer);
        return push();
    }

  private:
    /// Where the edges of long ones that pass this layer and the one before end there, by the
    /// place of their other end: no edge that is aligned crosses one of them.
    bool crosses_long(std::size_t layer, int v, int other) const {
        for (const int u : layers_[layer]) {
            if (!vertices_[std::size_t(u)].passes || u == v) continue;
            for (const Neighbour& edge : before_[std::size_t(u)]) {
                if (!vertices_[std::size_t(edge.vertex)].passes) continue;
                const int here = place_[std::size_t(u)] - place_[std::size_t(v)];
                const int there = place_[std::size_t(edge.vertex)] - place_[std::size_t(other)];
                if ((here < 0) != (there < 0) && there != 0) return true;
            }
        }
        return false;
    }
    void align(std::size_t layer) {
        int last = -1;  // the place of the last neighbour that has someone aligned
        for (const int v : layers_[layer]) {
            std::vector<Neighbour> edges = before_[std::size_t(v)];
            if (edges.empty()) continue;
            std::sort(edges.begin(), edges.end(), [&](const Neighbour& a, const Neighbour& b) {
                return place_[std::size_t(a.vertex)] < place_[std::size_t(b.vertex)];
            });
            for (const std::size_t middle : {(edges.size() - 1) / 2, edges.size() / 2}) {
                const Neighbour& edge = edges[middle];
                const int place = place_[std::size_t(edge.vertex)];
                if (root_[std::size_t(v)] != v || place <= last) continue;
                const bool is_long =
                    vertices_[std::size_t(v)].passes && vertices_[std::size_t(edge.vertex)].passes;
                if (!is_long && crosses_long(layer, v, edge.vertex)) continue;
                root_[std::size_t(v)] = root_[std::size_t(edge.vertex)];
                shift_[std::size_t(v)] = shift_[std::size_t(edge.vertex)] - edge.shift;
                last = place;
            }
        }
    }
    /// Each block of aligned vertices as far to the left as those on its left allow, then as near
    /// to those on its right as its own place allows.
    std::vector<double> push() {
        struct Push {
            int from, to;
            double least;  // from a block to the next
        };
        std::vector<Push> pushes;
        for (const auto& layer : layers_)
            for (std::size_t i = 1; i < layer.size(); ++i) {
                const auto a = std::size_t(layer[i - 1]), b = std::size_t(layer[i]);
                pushes.push_back(
                    {root_[a], root_[b], shift_[a] + vertices_[a].width + gap_ - shift_[b]});
            }
        std::vector<int> waiting(vertices_.size(), 0), order;
        std::vector<std::vector<std::size_t>> out(vertices_.size());
        for (std::size_t p = 0; p < pushes.size(); ++p) {
            ++waiting[std::size_t(pushes[p].to)];
            out[std::size_t(pushes[p].from)].push_back(p);
        }
        for (std::size_t v = 0; v < vertices_.size(); ++v)
            if (root_[v] == int(v) && waiting[v] == 0) order.push_back(int(v));
        std::vector<double> x(vertices_.size(), 0);
        for (std::size_t i = 0; i < order.size(); ++i)
            for (const std::size_t p : out[std::size_t(order[i])]) {
                const auto to = std::size_t(pushes[p].to);
                x[to] = std::max(x[to], x[std::size_t(order[i])] + pushes[p].least);
                if (--waiting[to] == 0) order.push_back(int(to));
            }
        for (auto block = order.rbegin(); block != order.rend(); ++block) {
            double room = 1e30;
            for (const std::size_t p : out[std::size_t(*block)])
                room = std::min(room, x[std::size_t(pushes[p].to)] - pushes[p].least);
            double& own = x[std::size_t(*block)];
            if (room < 1e30) own = std::max(own, room);
        }
        std::vector<double> columns(vertices_.size());
        for (std::size_t v = 0; v < columns.size(); ++v)
            columns[v] = x[std::size_t(root_[v])] + shift_[v];
        return columns;
    }

    const std::vector<ColumnVertex>& vertices_;
    const Layers& layers_;
    const std::vector<std::vector<Neighbour>>& before_;
    const double gap_;
    std::vector<int> place_;  // in its layer
    std::vector<int> root_;  // of the block of vertices that it is aligned with
    std::vector<double> shift_;  // of its left side from that of the root
};

/// The assignment of a drawing that is turned around, seen the right way.
std::vector<double> turned(const std::vector<ColumnVertex>& vertices, Layers layers,
                           const std::vector<ColumnEdge>& edges, double gap, bool upward,
                           bool mirrored) {
    if (upward) std::reverse(layers.begin(), layers.end());
    if (mirrored)
        for (auto& layer : layers) std::reverse(layer.begin(), layer.end());
    std::vector<std::vector<Neighbour>> before(vertices.size());
    for (const ColumnEdge& edge : edges) {
        const auto end = [&](int v, double x) {
            return mirrored ? vertices[std::size_t(v)].width - x : x;
        };
        const double from = end(edge.from, edge.from_x), to = end(edge.to, edge.to_x);
        if (upward) before[std::size_t(edge.from)].push_back({edge.to, from - to});
        else before[std::size_t(edge.to)].push_back({edge.from, to - from});
    }
    std::vector<double> columns = Alignment(vertices, layers, before, gap).columns();
    if (mirrored)
        for (std::size_t v = 0; v < columns.size(); ++v)
            columns[v] = -columns[v] - vertices[v].width;
    return columns;
}

}  // namespace

std::vector<double> assign_columns(const std::vector<ColumnVertex>& vertices, const Layers& layers,
                                   const std::vector<ColumnEdge>& edges, double gap) {
    struct Assignment {
        std::vector<double> columns;
        double left = 1e30, right = -1e30;
    };
    std::array<Assignment, 4> all;
    std::size_t narrowest = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].columns = turned(vertices, layers, edges, gap, i / 2 == 1, i % 2 == 1);
        for (std::size_t v = 0; v < vertices.size(); ++v) {
            all[i].left = std::min(all[i].left, all[i].columns[v]);
            all[i].right = std::max(all[i].right, all[i].columns[v] + vertices[v].width);
        }
        if (all[i].right - all[i].left < all[narrowest].right - all[narrowest].left) narrowest = i;
    }
    // Those pushed to the left have their left sides in common, the others their right ones.
    std::vector<double> columns(vertices.size());
    for (std::size_t v = 0; v < columns.size(); ++v) {
        std::array<double, 4> found{};
        for (std::size_t i = 0; i < all.size(); ++i)
            found[i] = all[i].columns[v] + (i % 2 == 1 ? all[narrowest].right - all[i].right
                                                       : all[narrowest].left - all[i].left);
        std::sort(found.begin(), found.end());
        columns[v] = (found[1] + found[2]) / 2;
    }
    return columns;
}

}  // namespace fovea::tool
