#include "codegen/emit/nvptx/block_order.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/grid.h"
#include "codegen/emit/nvptx/inline_asm.h"
#include "codegen/kernel/analysis/work_along.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class Order {
  public:
    Order(Function& function, const BlockOrder& order)
        : f_(function), ir_(function.ir()), order_(order) {}

    /// Returns the number of the tile.
    Value* place() {
        const Work work = work_along(f_.kernel(), order_.rows);
        if (work == Work::even) {
            Value* tiles = tiles_of(f_.extent(order_.rows));
            set_positions(f_, order_.points, ir_.CreateUDiv(f_.block(), tiles));
            return ir_.CreateURem(f_.block(), tiles);
        }
        Value* tiles = tiles_of(fresh(f_.extent(order_.rows)));
        Value* tile = place_in_section(tiles);
        return work == Work::falls ? tile : ir_.CreateNSWSub(last(tiles), tile);
    }

  private:
    Value* tiles_of(Value* rows) {
        Value* length = f_.number(order_.tile_rows);
        return ir_.CreateUDiv(ir_.CreateNSWAdd(rows, f_.number(order_.tile_rows - 1)), length);
    }
    Value* last(Value* count) { return ir_.CreateNSWSub(count, f_.number(1)); }

    /// The number again: what is made of it is made where it is needed, and keeps no registers
    /// from one call to the next.
    Value* fresh(Value* number) {
        return read_asm(f_, ir_.getInt64Ty(), "mov.b64 $0, $1;", "=l,l", {number});
    }

    /// The number, below 2^31, in a register of 32 bits.
    Value* in_one_register(Value* number) {
        Value* narrow = in_register(f_, ir_.CreateTrunc(number, ir_.getInt32Ty()));
        return ir_.CreateZExt(narrow, ir_.getInt64Ty());
    }

    /// Sections of points one after the other, in each all points of a tile before the next tile.
    Value* place_in_section(Value* tiles) {
        Value* points = fresh(count_of(f_, order_.points));
        Value* most = points_in_cache();
        Value* blocks = ir_.CreateNSWMul(most, tiles);
        Value* section = ir_.CreateUDiv(f_.block(), blocks);
        Value* number = ir_.CreateURem(f_.block(), blocks);
        Value* first = ir_.CreateNSWMul(section, most);
        Value* count =
            ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, most, ir_.CreateNSWSub(points, first));
        set_positions(f_, order_.points, ir_.CreateNSWAdd(first, ir_.CreateURem(number, count)));
        for (AxisId axis : order_.points) f_.set_position(axis, in_one_register(f_.position(axis)));
        return in_one_register(ir_.CreateUDiv(number, count));
    }

    Value* points_in_cache() {
        Value* bytes = f_.number(1);
        for (const auto& [axis, each] : bytes_along_loops())
            bytes =
                ir_.CreateNSWAdd(bytes, ir_.CreateNSWMul(fresh(f_.extent(axis)), f_.number(each)));
        Value* count = ir_.CreateUDiv(f_.number(order_.cached_bytes), bytes);
        return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, f_.number(1));
    }

    /// Of what all tiles of a point read: bytes for each position along the axis of a loop.
    std::map<AxisId, std::int64_t> bytes_along_loops() const {
        const Kernel& kernel = f_.kernel();
        std::set<AxisId> looped;
        for (const Node& node : kernel.nodes)
            if (auto loop = std::get_if<Loop>(&node.operation);
                loop && loop->kind == LoopKind::tiles)
                looped.insert(loop->axis);
        std::map<AxisId, std::int64_t> result;
        for (const Node& node : kernel.nodes) {
            const auto load = std::get_if<Load>(&node.operation);
            const auto& axes = node.axes;
            if (!load || std::count(axes.begin(), axes.end(), order_.rows)) continue;
            const DType dtype = kernel.buffers[std::size_t(load->access.buffer)].dtype;
            std::int64_t bytes = size_of(dtype);
            AxisId along = -1;
            for (AxisId axis : axes) {
                const Dim& extent = kernel.axes[std::size_t(axis)].extent;
                if (looped.contains(axis)) along = axis;
                else if (extent.is_static()) bytes *= extent.value();
            }
            if (along >= 0) result[along] += bytes;
        }
        return result;
    }

    Function& f_;
    llvm::IRBuilder<>& ir_;
    const BlockOrder& order_;
};

}  // namespace

Value* place_block(Function& function, const BlockOrder& order) {
    Value* tile = Order(function, order).place();
    return function.ir().CreateNSWMul(tile, function.number(order.tile_rows));
}

}  // namespace fovea::emit::nvptx
