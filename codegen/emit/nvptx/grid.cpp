#include "codegen/emit/nvptx/grid.h"

#include <stdexcept>

namespace fovea::emit::nvptx {

using kernel::AxisId;
using llvm::Value;

Value* count_of(Function& function, const std::vector<AxisId>& axes) {
    Value* count = function.number(1);
    for (AxisId axis : axes) count = function.ir().CreateNSWMul(count, function.extent(axis));
    return count;
}

void set_positions(Function& function, const std::vector<AxisId>& axes, Value* number) {
    for (std::size_t i = axes.size(); i-- > 0;) {
        if (i == 0) {
            function.set_position(axes[i], number);
            continue;
        }
        Value* extent = function.extent(axes[i]);
        function.set_position(axes[i], function.ir().CreateURem(number, extent));
        number = function.ir().CreateUDiv(number, extent);
    }
}

std::vector<GridFactor> grid_of(const kernel::Kernel& kernel, const std::vector<AxisId>& axes,
                                std::int64_t tile) {
    std::vector<GridFactor> result;
    Dim points(1);
    for (AxisId axis : axes) {
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        points = points * extent;
    }
    result.push_back({points, tile});
    return result;
}

}  // namespace fovea::emit::nvptx
