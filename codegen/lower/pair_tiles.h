// A function of one (query, key) pair as tiles over queries and keys.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/graph/ports.h"
#include "codegen/kernel/builder.h"

namespace fovea::lower {

using TileAxes = std::vector<kernel::AxisId>;  // one for each axis of a value; -1: size 1
/// In TileAxes: along the heads of queries. The leaf knows which axes of the kernel these are:
/// none, one, or two where several heads of queries read one of the keys.
inline constexpr kernel::AxisId kHeads = -2;
/// In TileAxes: the row that an i32 tile picks.
constexpr kernel::AxisId picked_row(kernel::Id row) { return -3 - row; }
constexpr bool is_picked_row(kernel::AxisId axis) { return axis <= -3; }
constexpr kernel::Id row_of_axis(kernel::AxisId axis) { return -3 - axis; }

/// Gives the tile of an input of the function, with its own axes along `axes`.
using LeafTile = std::function<kernel::Id(const Node& leaf, const TileAxes& axes)>;

/// Computes values of a score function (or of its gradient) in the kernel's current block.
/// Products are split into factors, so that constants fold and sums of products are contractions.
class PairTiles {
  public:
    /// `widths`: axes that vectors of a pair lie along, to be used before new ones are made.
    PairTiles(const Graph& function, kernel::Builder& builder, LeafTile leaf, TileAxes widths);

    /// An output times `number` and tile `factor` (-1: none).
    kernel::Id output(const Port& port, const TileAxes& axes, double number, kernel::Id factor);
    /// Its sum over `over`, axes of the pairs.
    kernel::Id sum_of_output(const Port& port, const TileAxes& axes, const TileAxes& over);

  private:
    struct Factor {
        int node = -1;  // of the function, with its axes; or -1 and a tile
        TileAxes axes;
        kernel::Id tile = -1;
    };
    struct Product {
        double number = 1;
        std::vector<Factor> factors;
        TileAxes over;  // axes to sum over
    };

    /// The tile that was made of these operands before, or what `make` gives.
    template <class Make>
    kernel::Id once(const std::vector<kernel::Id>& operands, Make&& make) {
        auto [at, fresh] = made_.try_emplace(operands, -1);
        if (fresh) at->second = make();
        return at->second;
    }
    kernel::Id value(int node, const TileAxes& axes);
    kernel::Id compute(int node, const TileAxes& axes);
    kernel::Id gather(const Node& node, const TileAxes& axes);
    kernel::Id scatter(const Node& node, const TileAxes& axes);
    kernel::Id index_of(int id);
    kernel::Id is_row(const Node& scatter, kernel::AxisId axis, bool as_number);
    kernel::Id scaled_sum(int node, const TileAxes& axes, Product scale);
    kernel::Id sum(const Product& product);
    kernel::Id sum_along(kernel::AxisId axis, const std::vector<kernel::Id>& tiles,
                         const std::vector<kernel::Id>& scalars);
    TileAxes axes_beside(const std::vector<kernel::Id>& tiles, kernel::AxisId axis) const;
    TileAxes axes_of(kernel::Id tile) const;
    void take_apart_einsum(const Node& node, const TileAxes& axes, Product& product);
    kernel::Id multiply(const std::vector<kernel::Id>& tiles);
    void take_apart(int node, const TileAxes& axes, Product& product);
    kernel::Id tile_of(const Factor& factor);
    TileAxes operand_axes(int operand, const TileAxes& axes) const;
    int output_value(const Port& port) const;
    kernel::AxisId free_axis(const Dim& dim, const TileAxes& used);
    bool has_axis(kernel::Id tile, kernel::AxisId axis) const;

    const Graph& function_;
    kernel::Builder& builder_;
    LeafTile leaf_;
    TileAxes widths_;
    std::map<std::pair<int, TileAxes>, kernel::Id> values_;
    std::map<std::vector<kernel::Id>, kernel::Id> made_;  // products and sums, by their operands
};

}  // namespace fovea::lower
