// What the threads of a block do together: barriers, exchanges within a warp, reductions.
#include <cmath>
#include <limits>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

using kernel::Reduction;
using llvm::Value;

void Function::barrier() { ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

Value* Function::from_lane(Value* value, int mask) {
    const bool is_float = value->getType()->isFloatTy();
    return ir_.CreateIntrinsic(is_float ? llvm::Intrinsic::nvvm_shfl_sync_bfly_f32
                                        : llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
                               {},
                               {ir_.getInt32(0xffffffff), value, ir_.getInt32(std::uint32_t(mask)),
                                ir_.getInt32(kWarp - 1)});
}

Value* Function::combine(Reduction reduction, Value* a, Value* b) {
    const bool is_float = a->getType()->isFloatTy();
    if (reduction == Reduction::sum) return is_float ? ir_.CreateFAdd(a, b) : ir_.CreateAdd(a, b);
    return ir_.CreateBinaryIntrinsic(is_float ? llvm::Intrinsic::maximum : llvm::Intrinsic::smax, a,
                                     b);
}

Value* Function::neutral(Reduction reduction, llvm::Type* type) {
    if (reduction == Reduction::sum) return llvm::Constant::getNullValue(type);
    if (type->isFloatTy()) return float_constant(ir_, -HUGE_VAL);
    return ir_.getInt32(std::uint32_t(std::numeric_limits<std::int32_t>::min()));
}

Value* Function::group_reduce(Reduction reduction, Value* value, int lanes) {
    for (int mask = lanes / 2; mask > 0; mask /= 2)
        value = combine(reduction, value, from_lane(value, mask));
    return value;
}

Value* Function::block_reduce(Reduction reduction, Value* value) {
    if (threads_ % kWarp)
        throw InternalError("kernel " + kernel_.name + ": a block of " + std::to_string(threads_) +
                            " threads reduces nothing");
    const int warps = threads_ / kWarp;
    value = group_reduce(reduction, value, kWarp);
    if (warps == 1) return value;
    llvm::Type* type = value->getType();
    // What the last reduction but one left there has been read: the barrier of the last says so.
    Value*& gathered = gathered_[reductions_++ % 2];
    if (!gathered) gathered = shared(ir_.getInt32Ty(), kWarp, "gathered");
    const auto place = [&](Value* number) { return ir_.CreateInBoundsGEP(type, gathered, number); };
    Value* lane = ir_.CreateAnd(thread_, kWarp - 1);
    when(ir_.CreateICmpEQ(lane, ir_.getInt32(0)),
         [&] { ir_.CreateStore(value, place(ir_.CreateLShr(thread_, 5))); });
    barrier();
    Value* total = nullptr;
    for (int warp = 0; warp < warps; ++warp) {
        Value* one = ir_.CreateLoad(type, place(ir_.getInt32(std::uint32_t(warp))));
        total = total ? combine(reduction, total, one) : one;
    }
    return total;
}

}  // namespace fovea::emit::nvptx
