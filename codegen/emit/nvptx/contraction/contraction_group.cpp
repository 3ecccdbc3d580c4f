// The product of two tiles of halves or tf32 by wgmma, which reads both from shared memory, in
// rows of 128 bytes that are swizzled.
#include "codegen/emit/nvptx/contraction/contraction_product.h"
#include "codegen/emit/nvptx/group_products.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

constexpr int kRows = 64;  // of a group of four warps
/// Bytes: along the depth of one instruction, and of a row. Halves alone lie the other way, 16
/// rows along the depth.
constexpr int kDepth = 32, kRow = 128, kRowsOfDepth = 16;

}  // namespace

GroupProduct::GroupProduct(const ContractionBlock& block, const OperandTiles& a,
                           const OperandTiles& b)
    : f_(block.f), ir_(block.f.ir()), plan_(block.plan), a_(a), b_(b) {
    Value* warp = ir_.CreateUDiv(f_.thread(), ir_.getInt32(32));
    first_row_ = ir_.CreateMul(ir_.CreateUDiv(warp, ir_.getInt32(4)), ir_.getInt32(kRows));
    first_column_ = ir_.CreateTrunc(ir_.CreateSub(block.first_column, block.first_loaded_column),
                                    ir_.getInt32Ty());
    warp_in_group_ = ir_.CreateURem(warp, ir_.getInt32(4));
    lane_ = ir_.CreateURem(f_.thread(), ir_.getInt32(32));
}

/// The start, the distance of columns of 128 bytes, where neighbours are along the outer axis,
/// and that of eight rows, each in units of 16 bytes (PTX ISA, "Matrix Descriptor Format").
Value* GroupProduct::descriptor(const OperandTiles& tile, Value* from, Value* first) const {
    Value* start = tile.address(from, first, ir_.getInt32(0));
    Value* address = ir_.CreatePtrToInt(start, ir_.getInt64Ty());
    Value* units = ir_.CreateAnd(ir_.CreateLShr(address, 4), 0x3fff);
    const auto in_units = [](int bytes) { return std::uint64_t(bytes / 16); };
    const int columns = tile.depth_inside() ? 16 : plan_.tile_depth * kRow;
    return ir_.CreateOr(
        units, ir_.getInt64(in_units(columns) << 16 | in_units(kEightRows) << 32 | kSwizzle128));
}

int GroupProduct::step(const OperandTiles& tile) const {
    const int bytes = tile.depth_inside() ? kDepth : kRowsOfDepth * kRow;
    return bytes / 16;
}

Values GroupProduct::start(Value* a, Value* b, Values sums) {
    Value* from_a = descriptor(a_, a, first_row_);
    Value* from_b = descriptor(b_, b, first_column_);
    sums = fence_products(f_, sums);
    for (int i = 0; i < plan_.tile_depth * plan_.element_bytes() / kDepth; ++i)
        sums = start_product(f_, ir_.CreateAdd(from_a, f_.number(i * step(a_))),
                             ir_.CreateAdd(from_b, f_.number(i * step(b_))), !a_.depth_inside(),
                             !b_.depth_inside(), sums, plan_.factors);
    write_asm(f_, "wgmma.commit_group.sync.aligned;");
    return sums;
}

Values GroupProduct::add(Value*, Value*, Values sums) {
    return wait_for_products(f_, plan_.overlaps ? 1 : 0, sums);
}

Values GroupProduct::finish(Values sums) {
    return plan_.overlaps ? wait_for_products(f_, 0, sums) : sums;
}

/// Lane 4 r + c of warp w has columns 2 c and 2 c + 1 of rows 16 w + r and 16 w + r + 8, in every
/// eight columns.
std::vector<SumsInPlace> GroupProduct::places() {
    std::vector<SumsInPlace> all;
    Value* row = ir_.CreateAdd(ir_.CreateAdd(first_row_, ir_.CreateShl(warp_in_group_, 4)),
                               ir_.CreateLShr(lane_, 2));
    Value* column = ir_.CreateShl(ir_.CreateAnd(lane_, 3), 1);
    for (int i = 0; i < plan_.tile_columns / 8; ++i)
        for (int half = 0; half < 2; ++half)
            all.push_back({4 * i + 2 * half, 2,
                           ir_.CreateAdd(row, ir_.getInt32(unsigned(half * 8))),
                           ir_.CreateAdd(column, ir_.getInt32(unsigned(i * 8)))});
    return all;
}

}  // namespace fovea::emit::nvptx
