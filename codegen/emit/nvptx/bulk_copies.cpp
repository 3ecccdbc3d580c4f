#include "codegen/emit/nvptx/bulk_copies.h"

#include <fmt/format.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/inline_asm.h"
#include "codegen/emit/nvptx/module.h"

namespace fovea::emit::nvptx {

using llvm::BasicBlock;
using llvm::Value;

namespace {

/// The 32 bits of an address in shared memory.
Value* shared_address(Function& f, Value* pointer) {
    return f.ir().CreatePtrToInt(pointer, f.ir().getInt32Ty());
}

/// Ends the kernel with an error where so many seconds have gone by since `start`.
void trap_after(Function& f, Value* start, int seconds) {
    const std::int64_t nanoseconds = std::int64_t(seconds) * 1'000'000'000;
    write_asm(f,
              fmt::format("{{\n\t.reg .pred late;\n\t.reg .b64 taken;\n\t"
                          "mov.u64 taken, %globaltimer;\n\tsub.s64 taken, taken, $0;\n\t"
                          "setp.gt.s64 late, taken, {};\n\t@late trap;\n\t}}",
                          nanoseconds),
              "l", {start});
}

}  // namespace

Barriers::Barriers(Function& f, int count, const std::string& name)
    : f_(f), first_(f.shared(f.ir().getInt64Ty(), std::size_t(count), name)) {}

Value* Barriers::at(Value* index) const {
    return f_.ir().CreateGEP(f_.ir().getInt64Ty(), first_, index);
}

Value* Barriers::at(int index) const { return at(f_.ir().getInt32(unsigned(index))); }

void make_barrier(Function& f, Value* barrier, int arrivals) {
    write_asm(f, fmt::format("mbarrier.init.shared::cta.b64 [$0], {};", arrivals), "r",
              {shared_address(f, barrier)});
}

void publish_barriers(Function& f) { write_asm(f, "fence.mbarrier_init.release.cluster;"); }

void arrive(Function& f, Value* barrier) {
    write_asm(f, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r", {shared_address(f, barrier)});
}

void arrive_expecting(Function& f, Value* barrier, int bytes) {
    write_asm(f, fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {};", bytes), "r",
              {shared_address(f, barrier)});
}

void wait_for_phase(Function& f, Value* barrier, Value* parity) {
    llvm::IRBuilder<>& ir = f.ir();
    Value* address = shared_address(f, barrier);
    const int seconds = ModuleBuilder::wait_seconds(*f.llvm_function().getParent());
    Value* start = nullptr;
    if (seconds) start = read_asm(f, ir.getInt64Ty(), "mov.u64 $0, %globaltimer;", "=l", {});
    BasicBlock* again = BasicBlock::Create(ir.getContext(), "wait", &f.llvm_function());
    BasicBlock* after = BasicBlock::Create(ir.getContext(), "arrived", &f.llvm_function());
    ir.CreateBr(again);
    ir.SetInsertPoint(again);
    Value* done = read_asm(f, ir.getInt32Ty(),
                           "{\n\t.reg .pred done;\n\t"
                           "mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2;\n\t"
                           "selp.b32 $0, 1, 0, done;\n\t}",
                           "=r,r,r", {address, parity});
    BasicBlock* late =
        seconds ? BasicBlock::Create(ir.getContext(), "late", &f.llvm_function()) : again;
    ir.CreateCondBr(ir.CreateICmpNE(done, ir.getInt32(0)), after, late);
    if (seconds) {
        ir.SetInsertPoint(late);
        trap_after(f, start, seconds);
        ir.CreateBr(again);
    }
    ir.SetInsertPoint(after);
}

void copy_box(Function& f, int map, Value* to, const Values& coordinates, Value* barrier) {
    std::string positions, constraints = "r,l,r";
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
        positions += (i ? ", $" : "$") + std::to_string(i + 3);
        constraints += ",r";
    }
    Values operands = {shared_address(f, to), f.tensor_map(map), shared_address(f, barrier)};
    operands.insert(operands.end(), coordinates.begin(), coordinates.end());
    write_asm(f,
              fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::"
                          "complete_tx::bytes [$0], [$1, {{{}}}], [$2];",
                          coordinates.size(), positions),
              constraints, operands);
}

void give_registers(Function& f, int left) {
    f.ir().CreateIntrinsic(llvm::Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32, {},
                           {f.ir().getInt32(unsigned(left))});
}

void take_registers(Function& f, int total) {
    f.ir().CreateIntrinsic(llvm::Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32, {},
                           {f.ir().getInt32(unsigned(total))});
}

}  // namespace fovea::emit::nvptx
