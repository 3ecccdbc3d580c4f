// Dropout's factors in kernels over tiles: a draw at a position, and a tile of them.
#include <algorithm>

#include "codegen/emit/cpp/tiles/tile_text.h"

namespace fovea::emit {

using namespace kernel;

/// `key, site, 0.1F, row, column`: the draw at a position, without the axes of `tile`.
std::string TileText::draw_arguments(const Random& random, const std::vector<AxisId>& tile) const {
    const auto sum = [&](const std::vector<Stride>& strides) {
        Expression result{"0"};
        for (const Stride& stride : strides) {
            const bool inside = std::find(tile.begin(), tile.end(), stride.axis) != tile.end();
            const Expression at = !inside                       ? position(stride.axis)
                                  : plan_.is_tiled(stride.axis) ? Expression{this->at(stride.axis)}
                                                                : Expression{"0"};
            result = result + moved(at.in(Binding::product), stride.stride);
        }
        return result.text;
    };
    return "key, " + site_name(kernel_, random) + ", " + spell_float(random.probability).text +
           ", " + sum(random.row) + ", " + sum(random.column);
}

Expression TileText::random(Id id, const Random& random) const {
    const std::string arguments = draw_arguments(random, {});
    if (!is_vector(id)) return {"dropout(" + arguments + ")"};
    return {"dropout_lanes(" + arguments + ", " + spell(stride_along(random.row, lane)).text +
            ", " + spell(stride_along(random.column, lane)).text + ")"};
}

std::string TileText::draw(Id id, const std::string& to, const Place2& place) const {
    const auto [row, lanes] = place;
    const Random& random = *as<Random>(kernel_, id);
    const std::string arguments = to + draw_arguments(random, {row, lanes});
    const Dim row_step = stride_along(random.row, row), lane_step = stride_along(random.row, lanes);
    const Dim row_column = stride_along(random.column, row);
    const Dim lane_column = stride_along(random.column, lanes);
    const bool along_lanes = row_column == Dim(0) && lane_column.is_one();
    const AxisId along = along_lanes ? lanes : row;
    if (plan_.is_tiled(along) && random.column.size() == 1) {
        if (along_lanes && row_step.is_one() && lane_step == Dim(0))
            return "dropout_rows(" + arguments + ");";
        if (row_step == Dim(0) && lane_step.is_one() && row_column.is_one() &&
            lane_column == Dim(0))
            return "dropout_columns(" + arguments + ");";
    }
    return "dropout_tile(" + arguments + ", " + spell(row_step).text + ", " +
           spell(row_column).text + ", " + spell(lane_step).text + ", " + spell(lane_column).text +
           ");";
}

}  // namespace fovea::emit
