// Products without rows: what is read is read once, by neighbouring threads where it lies side by
// side. Either the lanes of a warp share the sum of one column, or each lane has a column and the
// warps of the block share its sum.
#include "codegen/emit/nvptx/contraction/contraction_block.h"
#include "codegen/emit/nvptx/halves.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

Value* product_of_operands(const ContractionBlock& block, Id of_b, Value* at, Value* sum) {
    Function& f = block.f;
    set_depth(block, at);
    const DType half = dtype_of(block.plan.factors);
    Value* factors[2];
    for (int i = 0; i < 2; ++i) {
        const Id load = i ? of_b : block.plan.a.load;
        const Access& access = as<Load>(f.kernel(), load)->access;
        const DType memory = f.kernel().buffers[std::size_t(access.buffer)].dtype;
        factors[i] = f.load(access);
        if (is_half(half) && memory != half) factors[i] = rounded_to(f.ir(), half, factors[i]);
    }
    return f.ir().CreateIntrinsic(llvm::Intrinsic::fma, {f.ir().getFloatTy()},
                                  {factors[0], factors[1], sum});
}

/// The sum of every `step`-th product from `first` on.
Value* sum_of_products(const ContractionBlock& block, Id of_b, Value* first, int step) {
    Function& f = block.f;
    Value* zero = llvm::ConstantFP::get(f.ir().getFloatTy(), 0);
    return f.loop_carrying(first, block.depth, f.number(step), {zero},
                           [&](Value* at, const Values& sum) -> Values {
                               return {product_of_operands(block, of_b, at, sum[0])};
                           })[0];
}

/// Sets the position along the columns, 0 where the product has fewer; whether it has.
Value* set_column(const ContractionBlock& block, Value* offset) {
    Function& f = block.f;
    const AxisId axis = block.plan.columns;
    if (axis < 0) return f.ir().CreateICmpEQ(offset, f.number(0));
    Value* column = f.ir().CreateAdd(block.first_column, offset, "column");
    Value* inside = f.ir().CreateICmpULT(column, f.extent(axis));
    f.set_position(axis, f.ir().CreateSelect(inside, column, f.number(0)));
    return inside;
}

void write_along_depth(const ContractionBlock& block, Value* warp, Value* lane) {
    Function& f = block.f;
    Value* inside = set_column(block, warp);
    const auto sum_of = [&](Id of_b) {
        Value* sum = sum_of_products(block, of_b, lane, kWarp);
        return f.group_reduce(Reduction::sum, sum, kWarp);
    };
    Value* sum = sum_of(block.plan.b.load);
    Values before;
    if (block.plan.before >= 0) before = {sum_of(block.plan.b.second)};
    Value* first_lane = f.ir().CreateICmpEQ(lane, f.number(0));
    f.when(f.ir().CreateAnd(inside, first_lane), [&] { write_epilogue(block, {sum}, before); });
}

void write_along_columns(const ContractionBlock& block, Value* warp, Value* lane, int warps) {
    Function& f = block.f;
    llvm::Type* type = f.ir().getFloatTy();
    Value* inside = set_column(block, lane);
    std::vector<Value*> parts;  // of each product
    const auto write_parts = [&](Id of_b, const char* name) {
        Value* sum = sum_of_products(block, of_b, warp, warps);
        parts.push_back(f.shared(type, std::size_t(warps) * kWarp, name));
        f.ir().CreateStore(sum, f.ir().CreateGEP(type, parts.back(), f.thread()));
    };
    write_parts(block.plan.b.load, "parts");
    if (block.plan.before >= 0) write_parts(block.plan.b.second, "parts_before");
    f.barrier();
    const auto total_of = [&](Value* of_warps) {
        Value* total = nullptr;
        for (int i = 0; i < warps; ++i) {
            Value* at = f.ir().CreateAdd(lane, f.number(i * kWarp));
            Value* part = f.ir().CreateLoad(type, f.ir().CreateGEP(type, of_warps, at));
            total = total ? f.ir().CreateFAdd(total, part) : part;
        }
        return total;
    };
    Value* first_warp = f.ir().CreateICmpEQ(warp, f.number(0));
    f.when(f.ir().CreateAnd(inside, first_warp), [&] {
        const Values total = {total_of(parts[0])};
        write_epilogue(block, total, parts.size() > 1 ? Values{total_of(parts[1])} : Values{});
    });
}

bool is_contiguous(const Access& access, AxisId axis) {
    for (const Stride& stride : access.strides)
        if (stride.axis == axis)
            return stride.panel ? stride.step == 1 && stride.panel > 2 : stride.stride.is_one();
    return false;
}

}  // namespace

VectorShape vector_shape(const Kernel& kernel, const ContractionPlan& plan) {
    const target::GpuContraction& target = plan.settings.target.contraction;
    if (plan.columns < 0) return {.lanes_along_depth = true, .columns = 1, .threads = kWarp};
    const Access& access = as<Load>(kernel, plan.b.load)->access;
    if (is_contiguous(access, plan.contracted.back()) || !is_contiguous(access, plan.columns))
        return {.lanes_along_depth = true,
                .columns = target.vector_warps,
                .threads = target.vector_warps * kWarp};
    return {.lanes_along_depth = false, .columns = kWarp, .threads = target.column_warps * kWarp};
}

void write_vector(const ContractionBlock& block) {
    Function& f = block.f;
    const VectorShape shape = vector_shape(f.kernel(), block.plan);
    Value* thread = f.ir().CreateZExt(f.thread(), f.ir().getInt64Ty());
    Value* warp = f.ir().CreateUDiv(thread, f.number(kWarp), "warp");
    Value* lane = f.ir().CreateURem(thread, f.number(kWarp), "lane");
    if (shape.lanes_along_depth) write_along_depth(block, warp, lane);
    else write_along_columns(block, warp, lane, shape.threads / kWarp);
}

}  // namespace fovea::emit::nvptx
