// Each thread copies a few pieces of a tile: groups of elements that lie side by side in global and
// in shared memory. Rows of a tile that is not swizzled are padded, so that what a warp reads at
// once lies in different banks: the eight rows of an ldmatrix, or eight floats of four rows where
// tf32 lies along the outer axis.
#include "codegen/emit/nvptx/contraction/contraction_operand.h"

#include "codegen/emit/nvptx/matrix_instructions.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/halves.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

/// Bytes after each row in shared memory, and of tf32 along the outer axis.
constexpr int kPadding = 16, kWidePadding = 32;
constexpr int kSwizzle = 128;  // bytes of a swizzled row

bool is_multiple(const Dim& extent, int tile) {
    return extent.is_static() && extent.value() % tile == 0;
}

llvm::Intrinsic::ID copy_of(int bytes, bool part) {
    using namespace llvm;
    if (bytes == 16)
        return part ? Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                    : Intrinsic::nvvm_cp_async_cg_shared_global_16;
    if (bytes == 8)
        return part ? Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                    : Intrinsic::nvvm_cp_async_ca_shared_global_8;
    return part ? Intrinsic::nvvm_cp_async_ca_shared_global_4_s
                : Intrinsic::nvvm_cp_async_ca_shared_global_4;
}

}  // namespace

OperandTiles::OperandTiles(const ContractionBlock& block, const OperandPlan& operand,
                           int tile_outer, Value* first)
    : block_(block),
      f_(block.f),
      ir_(block.f.ir()),
      operand_(operand),
      access_(as<Load>(block.f.kernel(), operand.load)->access),
      tile_outer_(tile_outer),
      tile_depth_(block.plan.tile_depth),
      own_outer_(operand.second < 0 ? tile_outer : tile_outer / 2),
      first_(first),
      swizzled_(block.plan.form == ContractionForm::group) {}

int OperandTiles::row_bytes() const {
    const int elements = operand_.depth_inside ? tile_depth_ : tile_outer_;
    const int padding = is_tf32() && !operand_.depth_inside ? kWidePadding : kPadding;
    return elements * element_bytes() + (swizzled_ ? 0 : padding);
}

int OperandTiles::pieces() const {
    const int all = tile_outer_ * tile_depth_ / (operand_.width * operand_.across);
    if (all % f_.threads() != 0)
        throw InternalError(f_.kernel().name + ": " + std::to_string(f_.threads()) +
                            " threads cannot share a tile's pieces");
    return all / f_.threads();
}

OperandTiles::Piece OperandTiles::piece(int number) const {
    const int depth_step = operand_.depth_inside ? operand_.width : 1;
    const int outer_step = operand_.depth_inside ? operand_.across : operand_.width;
    const int fast = operand_.depth_first ? tile_depth_ / depth_step : tile_outer_ / outer_step;
    Value* across = ir_.CreateURem(f_.thread(), ir_.getInt32(unsigned(fast)));
    Value* along = ir_.CreateAdd(ir_.CreateUDiv(f_.thread(), ir_.getInt32(unsigned(fast))),
                                 ir_.getInt32(unsigned(number * (f_.threads() / fast))));
    if (!operand_.depth_first) std::swap(across, along);
    return {.outer = ir_.CreateMul(along, ir_.getInt32(unsigned(outer_step))),
            .depth = ir_.CreateMul(across, ir_.getInt32(unsigned(depth_step)))};
}

Value* OperandTiles::enter(const Piece& piece, Value* tile) {
    llvm::Type* wide = ir_.getInt64Ty();
    const Dim& extent = f_.kernel().axes[std::size_t(operand_.outer)].extent;
    Value* in_tile = piece.outer;
    if (operand_.second >= 0) {
        Value* own = ir_.getInt32(unsigned(own_outer_));
        is_second_ = ir_.CreateICmpUGE(in_tile, own);
        in_tile = ir_.CreateURem(in_tile, own);
    }
    Value* outer = ir_.CreateAdd(first_, ir_.CreateZExt(in_tile, wide));
    if (!is_multiple(extent, own_outer_))
        outer = ir_.CreateSelect(ir_.CreateICmpULT(outer, f_.extent(operand_.outer)), outer,
                                 f_.number(0));
    f_.set_position(operand_.outer, outer);
    Value* depth = ir_.CreateAdd(ir_.CreateMul(tile, f_.number(tile_depth_)),
                                 ir_.CreateZExt(piece.depth, wide));
    Dim all = 1;
    for (AxisId axis : block_.plan.contracted)
        all = all * f_.kernel().axes[std::size_t(axis)].extent;
    Value* inside = nullptr;
    if (!is_multiple(all, tile_depth_)) {
        inside = ir_.CreateICmpULT(depth, block_.depth);
        depth = ir_.CreateSelect(inside, depth, f_.number(0));
    }
    set_depth(block_, depth);
    return inside;
}

Value* OperandTiles::source() const {
    Value* first = f_.address(access_);
    if (operand_.second < 0) return first;
    const Access& second = as<Load>(f_.kernel(), operand_.second)->access;
    return ir_.CreateSelect(is_second_, f_.address(second), first);
}

void OperandTiles::copy(const Piece& piece, Value* inside, Value* to) {
    const int bytes = operand_.width * element_bytes();
    Values arguments = {address(to, piece.outer, piece.depth), source()};
    if (inside)
        arguments.push_back(
            ir_.CreateSelect(inside, ir_.getInt32(unsigned(bytes)), ir_.getInt32(0)));
    ir_.CreateIntrinsic(copy_of(bytes, inside != nullptr), {}, arguments);
}

/// One float, or a vector of them.
Value* OperandTiles::load(Value* inside) {
    Value* value = nullptr;
    if (operand_.width == 1) {
        value = f_.load(access_);
        if (operand_.second >= 0)
            value = ir_.CreateSelect(
                is_second_, f_.load(as<Load>(f_.kernel(), operand_.second)->access), value);
    } else {
        auto* type = llvm::FixedVectorType::get(ir_.getFloatTy(), unsigned(operand_.width));
        value =
            ir_.CreateAlignedLoad(type, source(), llvm::Align(std::uint64_t(operand_.width) * 4));
    }
    if (!inside) return value;
    return ir_.CreateSelect(inside, value, llvm::Constant::getNullValue(value->getType()));
}

Values OperandTiles::begin(Value* tile, Value* to) {
    Values loaded;
    for (int i = 0; i < pieces(); ++i) {
        const Piece at = piece(i);
        if (operand_.in_pairs) {
            begin_pairs(at, tile, loaded);
            continue;
        }
        f_.scope([&] {
            Value* inside = enter(at, tile);
            if (operand_.asynchronous) copy(at, inside, to);
            else loaded.push_back(load(inside));
        });
    }
    return loaded;
}

/// What is loaded as it lies in shared memory: a number, or pairs of halves.
Value* OperandTiles::in_memory_form(Value* loaded) {
    if (is_tf32()) return rounded_to_tf32(ir_, loaded);
    if (element_bytes() == 4) return loaded;
    const DType half = dtype_of(block_.plan.factors);
    if (operand_.width == 1) return half_of_float(ir_, half, loaded);
    const int pairs = operand_.width / 2;
    Value* all =
        llvm::UndefValue::get(llvm::FixedVectorType::get(ir_.getInt32Ty(), unsigned(pairs)));
    for (int i = 0; i < pairs; ++i) {
        Value* low = ir_.CreateExtractElement(loaded, std::uint64_t(2 * i));
        Value* high = ir_.CreateExtractElement(loaded, std::uint64_t(2 * i + 1));
        all = ir_.CreateInsertElement(all, pair_of(ir_, half, low, high), std::uint64_t(i));
    }
    return all;
}

/// Pairs of each neighbour along the outer axis, for one pair of positions along the depth after
/// the other.
void OperandTiles::begin_pairs(const Piece& piece, Value* tile, Values& loaded) {
    auto* type = llvm::FixedVectorType::get(ir_.getInt32Ty(), unsigned(operand_.across));
    for (int i = 0; i < operand_.width; i += 2)
        f_.scope([&] {
            Value* depth = ir_.CreateAdd(piece.depth, ir_.getInt32(unsigned(i)));
            Value* inside = enter({.outer = piece.outer, .depth = depth}, tile);
            Value* pairs = ir_.CreateAlignedLoad(type, source(),
                                                 llvm::Align(std::uint64_t(operand_.across) * 4));
            if (inside) pairs = ir_.CreateSelect(inside, pairs, llvm::Constant::getNullValue(type));
            loaded.push_back(pairs);
        });
}

void OperandTiles::end_pairs(const Piece& piece, Value* const* loaded, Value* to) {
    const int pairs = operand_.width / 2;
    auto* type = llvm::FixedVectorType::get(ir_.getInt32Ty(), unsigned(pairs));
    for (int i = 0; i < operand_.across; ++i) {
        Value* all = llvm::UndefValue::get(type);
        for (int j = 0; j < pairs; ++j)
            all = ir_.CreateInsertElement(
                all, ir_.CreateExtractElement(loaded[j], std::uint64_t(i)), std::uint64_t(j));
        Value* outer = ir_.CreateAdd(piece.outer, ir_.getInt32(unsigned(i)));
        ir_.CreateAlignedStore(all, address(to, outer, piece.depth), llvm::Align(16));
    }
}

void OperandTiles::end(const Values& loaded, Value* to) {
    if (operand_.in_pairs) {
        for (int i = 0; i < pieces(); ++i)
            end_pairs(piece(i), loaded.data() + i * (operand_.width / 2), to);
        return;
    }
    for (std::size_t i = 0; i < loaded.size(); ++i) {
        const Piece at = piece(int(i));
        ir_.CreateAlignedStore(in_memory_form(loaded[i]), address(to, at.outer, at.depth),
                               llvm::Align(std::uint64_t(operand_.width * element_bytes())));
    }
}

Value* OperandTiles::address(Value* from, Value* outer, Value* depth) const {
    if (swizzled_) return at_byte(f_, from, swizzled(outer, depth));
    Value* row = operand_.depth_inside ? outer : depth;
    Value* column = operand_.depth_inside ? depth : outer;
    Value* bytes = ir_.CreateAdd(ir_.CreateMul(row, ir_.getInt32(unsigned(row_bytes()))),
                                 ir_.CreateMul(column, ir_.getInt32(unsigned(element_bytes()))));
    return at_byte(f_, from, bytes);
}

/// As wgmma reads it: columns of 128 bytes, in each of which the pieces of 16 bytes of a row are
/// exchanged by the row's number.
Value* OperandTiles::swizzled(Value* outer, Value* depth) const {
    Value* row = operand_.depth_inside ? outer : depth;
    Value* at = ir_.CreateMul(operand_.depth_inside ? depth : outer,
                              ir_.getInt32(unsigned(element_bytes())));
    Value* column = ir_.CreateMul(ir_.CreateUDiv(at, ir_.getInt32(kSwizzle)),
                                  ir_.getInt32(unsigned(tile_rows() * kSwizzle)));
    Value* piece = ir_.CreateAnd(at, kSwizzle - 1);
    Value* exchanged = ir_.CreateXor(piece, ir_.CreateMul(ir_.CreateAnd(row, 7), ir_.getInt32(16)));
    return ir_.CreateAdd(column,
                         ir_.CreateAdd(ir_.CreateMul(row, ir_.getInt32(kSwizzle)), exchanged));
}

}  // namespace fovea::emit::nvptx
