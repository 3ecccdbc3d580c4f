// Copies of boxes of tensors in entries that Function builds.
#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/bulk_copies.h"
#include "codegen/emit/nvptx/module.h"
#include "codegen/emit/nvptx/tensor_map.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::emit;
using namespace fovea::emit::nvptx;
using llvm::Value;

namespace {

constexpr int kBox = 8, kBytes = kBox * kBox * 4;

/// y = x of [m, 12], whose entry copies boxes of 8 x 8 in a ring of two.
Kernel doubled() {
    Builder it("doubled");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", 12);
    const int x = it.input("x", {"m", 12}), y = it.output("y", {"m", 12});
    it.store(it.at(y, {i, j}), it.load(it.at(x, {i, j})));
    return it.finish();
}

TensorMap map_of_x() {
    return {.buffer = 0, .offset = 0, .axes = {{12, 1, kBox}, {"m", 12, kBox}}, .swizzle = 0};
}

/// Warp 0 copies, warp 1 waits and stores: columns 0 to 7 of each eight rows, then 8 to 11.
void write(Function& f) {
    llvm::IRBuilder<>& ir = f.ir();
    const Barriers full(f, 2, "full"), empty(f, 2, "empty");
    Value* tiles = f.shared(ir.getFloatTy(), std::size_t(2) * kBox * kBox, "tiles");
    llvm::cast<llvm::GlobalVariable>(tiles)->setAlignment(llvm::Align(128));
    f.when(ir.CreateICmpEQ(f.thread(), ir.getInt32(0)), [&] {
        for (int i = 0; i < 2; ++i) {
            make_barrier(f, full.at(i), 1);
            make_barrier(f, empty.at(i), 32);
        }
        publish_barriers(f);
    });
    f.barrier();
    Value* rows = ir.CreateUDiv(ir.CreateAdd(f.dim("m"), f.number(kBox - 1)), f.number(kBox));
    Value* count = ir.CreateMul(rows, f.number(2));
    const auto slot = [&](Value* at) {
        return ir.CreateTrunc(ir.CreateAnd(at, 1), ir.getInt32Ty());
    };
    const auto parity = [&](Value* at) { return slot(ir.CreateLShr(at, 1)); };
    const auto tile = [&](Value* at) {
        return ir.CreateGEP(ir.getFloatTy(), tiles,
                            ir.CreateMul(slot(at), ir.getInt32(kBox * kBox)));
    };
    f.when(ir.CreateICmpEQ(f.thread(), ir.getInt32(0)), [&] {
        f.loop(f.number(0), count, f.number(1), [&](Value* at) {
            wait_for_phase(f, empty.at(slot(at)), ir.CreateXor(parity(at), 1));
            arrive_expecting(f, full.at(slot(at)), kBytes);
            Value* row = ir.CreateTrunc(ir.CreateLShr(at, 1), ir.getInt32Ty());
            copy_box(
                f, 0, tile(at),
                {ir.CreateMul(slot(at), ir.getInt32(kBox)), ir.CreateMul(row, ir.getInt32(kBox))},
                full.at(slot(at)));
        });
    });
    f.when(ir.CreateICmpUGE(f.thread(), ir.getInt32(32)), [&] {
        Value* lane = ir.CreateZExt(ir.CreateAnd(f.thread(), 31), ir.getInt64Ty());
        f.loop(f.number(0), count, f.number(1), [&](Value* at) {
            wait_for_phase(f, full.at(slot(at)), parity(at));
            f.loop(lane, f.number(kBox * kBox), f.number(32), [&](Value* element) {
                Value* value = ir.CreateLoad(ir.getFloatTy(),
                                             ir.CreateGEP(ir.getFloatTy(), tile(at), element));
                Value* row = ir.CreateAdd(ir.CreateMul(ir.CreateLShr(at, 1), f.number(kBox)),
                                          ir.CreateLShr(element, 3));
                Value* column = ir.CreateAdd(ir.CreateMul(ir.CreateAnd(at, 1), f.number(kBox)),
                                             ir.CreateAnd(element, 7));
                Value* inside = ir.CreateAnd(ir.CreateICmpULT(row, f.dim("m")),
                                             ir.CreateICmpULT(column, f.number(12)));
                f.when(inside, [&] {
                    f.store_at(1, ir.CreateAdd(ir.CreateMul(row, f.number(12)), column), value);
                });
            });
            arrive(f, empty.at(slot(at)));
        });
    });
}

}  // namespace

TEST_CASE("boxes of a tensor pass through a ring") {
    const Kernel kernel = doubled();
    ModuleBuilder builder("test", {target::gpu_of("sm_90a")});
    Function f(builder.module(), kernel, "doubled", 64, {map_of_x()});
    write(f);
    f.finish();
    test::Emitted emitted{{kernel}, {}, {}};
    emitted.ptx.text = builder.finish();
    emitted.ptx.kernels = {
        {.name = "doubled",
         .launches = {{.entry = "doubled", .grid = {}, .threads = 64, .maps = {map_of_x()}}},
         .steps = {}}};
    emitted.module = ptx::parse(emitted.ptx.text);
    for (std::int64_t m : {0, 1, 8, 29})
        for (const ptx::Schedule& schedule : ptx::schedules()) {
            CAPTURE(m);
            test::Arrays arrays(kernel, {{"m", m}}, 7, 11);
            test::run_ptx(emitted, 0, {{"m", m}}, arrays, schedule);
            test::check_against_evaluator(kernel, {{"m", m}}, arrays, 0);
        }
    CHECK(test::complaints_of_ptxas(emitted.ptx.text, "sm_90a").value_or("") == "");
}

TEST_CASE("maps that the driver would not take are refused") {
    const Kernel kernel = doubled();
    CHECK(!why_not_tensor_map(kernel, map_of_x()));
    CHECK(box_bytes(kernel, map_of_x()) == kBytes);
    const auto reason = [&](auto change) {
        TensorMap map = map_of_x();
        change(map);
        return why_not_tensor_map(kernel, map).value_or("");
    };
    CHECK(reason([](TensorMap& map) { map.axes.pop_back(); }) == "it has 1 axes, not 2 to 5");
    CHECK(reason([](TensorMap& map) { map.offset = 6; }) ==
          "it starts at no multiple of 16 bytes of x");
    CHECK(reason([](TensorMap& map) { map.axes[0].stride = 2; }) ==
          "its innermost elements lie apart");
    CHECK(reason([](TensorMap& map) { map.axes[1].stride = Dim("m") + Dim(4); }) ==
          "its stride along axis 1 is no multiple of 16 bytes");
    CHECK(reason([](TensorMap& map) { map.axes[1].box = 257; }) ==
          "its box has 257 positions along axis 1, not 1 to 256");
    CHECK(reason([](TensorMap& map) { map.axes[0].box = 6; }) ==
          "a row of its box has 24 bytes, no multiple of 16");
    CHECK(reason([](TensorMap& map) { map.axes[0].box = 12, map.swizzle = 32; }) ==
          "a row of its box has 48 bytes, and the swizzle 32");
    CHECK(reason([](TensorMap& map) { map.swizzle = 16; }) == "no swizzle has 16 bytes");
    ModuleBuilder builder("test", {target::gpu_of("sm_90a")});
    TensorMap apart = map_of_x();
    apart.axes[0].stride = 2;
    CHECK_THROWS_WITH_AS(
        Function(builder.module(), kernel, "doubled", 64, {apart}),
        "kernel doubled has a tensor map that is none: its innermost elements lie apart",
        InternalError);
}
