#include "codegen/emit/nvptx/tiles/tile_slots.h"

#include <algorithm>

#include <llvm/IR/Intrinsics.h>

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

TileSlots::TileSlots(AxisId rows, Function& function)
    : rows_(rows), f_(function), ir_(function.ir()) {}

void TileSlots::add(Slots& slots, Value* position, Value* end) {
    if (end) {
        slots.exist.push_back(ir_.CreateICmpSLT(position, end));
        Value* last = ir_.CreateNSWSub(end, f_.number(1));
        position = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, position, last);
    }
    slots.positions.push_back(position);
}

void TileSlots::set_rows(Value* first, Value* end) {
    Slots slots;
    for (int i = 0; i < kRows; ++i) add(slots, ir_.CreateNSWAdd(first, f_.number(8 * i)), end);
    slots_[rows_] = std::move(slots);
}

void TileSlots::set_columns(AxisId axis, int length, Value* first, Value* end) {
    Slots slots;
    Value* in_quad = ir_.CreateAnd(f_.thread(), kQuad - 1);
    Value* own = ir_.CreateZExt(ir_.CreateShl(in_quad, 1), ir_.getInt64Ty());
    Value* start = ir_.CreateNSWAdd(first, own);
    llvm::Type* narrow = ir_.getInt32Ty();
    Value* last = nullptr;  // from the start on, i32
    if (end) last = ir_.CreateTrunc(ir_.CreateSub(ir_.CreateSub(end, f_.number(1)), start), narrow);
    for (int j = 0; j < length / kQuad; ++j) {
        Value* offset = llvm::ConstantInt::get(narrow, std::uint64_t(j / 2 * 8 + j % 2));
        if (end) {
            slots.exist.push_back(ir_.CreateICmpSLE(offset, last));
            offset = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, offset, last);
        }
        slots.positions.push_back(
            ir_.CreateNSWAdd(start, ir_.CreateSExt(offset, ir_.getInt64Ty())));
    }
    slots_[axis] = std::move(slots);
}

void TileSlots::over(const std::vector<AxisId>& tile,
                     const std::function<void(std::size_t)>& body) {
    std::vector<AxisId> order = tile;
    std::stable_sort(order.begin(), order.end(),
                     [&](AxisId a, AxisId b) { return (a == rows_) > (b == rows_); });
    std::size_t count = 1;
    for (AxisId axis : order) count *= slots_.at(axis).positions.size();
    for (std::size_t number = 0; number < count; ++number) {
        std::size_t rest = number;
        for (std::size_t i = order.size(); i-- > 0;) {
            const Values& positions = slots_.at(order[i]).positions;
            f_.set_position(order[i], positions[rest % positions.size()]);
            rest /= positions.size();
        }
        body(number);
    }
}

}  // namespace fovea::emit::nvptx
