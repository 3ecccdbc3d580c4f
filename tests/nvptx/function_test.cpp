// Entries written by hand with Function, run on the interpreter.
#include <doctest/doctest.h>

#include <functional>
#include <numeric>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/module.h"
#include "codegen/kernel/builder.h"
#include "codegen/ptx/interpret.h"
#include "codegen/target/target.h"

using namespace fovea;
using namespace fovea::kernel;
using emit::nvptx::Function;
using emit::nvptx::ModuleBuilder;
using llvm::Value;

namespace {

/// y[i] = x[i] * reduce(x), of which the tests write the entry.
struct Scaled {
    Kernel kernel;
    AxisId i;
    Id value, reduced, product, store;
};
Scaled scaled(kernel::Reduction reduction) {
    Builder it("scaled");
    const AxisId i = it.axis("i", "m");
    const int x = it.input("x", {"m"}), y = it.output("y", {"m"});
    const Id value = it.load(it.at(x, {i})), reduced = it.reduce(reduction, value, {i});
    const Id product = it.mul(value, reduced), store = it.store(it.at(y, {i}), product);
    return {it.finish(), i, value, reduced, product, store};
}

/// Runs an entry of one block with x = 1, -2, 3, -4, …; returns y.
std::vector<float> run(const Scaled& scaled, int threads, std::size_t size,
                       const std::function<void(Function&)>& write) {
    ModuleBuilder builder("test", {target::gpu_of("sm_80")});
    Function function(builder.module(), scaled.kernel, "scaled", threads);
    write(function);
    function.finish();
    const ptx::Module module = ptx::parse(builder.finish());
    std::vector<float> x(size), y(size, -1);
    for (std::size_t i = 0; i < size; ++i) x[i] = (i % 2 ? -1.F : 1.F) * float(i + 1);
    for (const ptx::Schedule& schedule : ptx::schedules()) {
        ptx::Memory memory;
        ptx::Launch launch;
        launch.block = {std::uint32_t(threads), 1, 1};
        launch.arguments = {ptx::argument(memory.add(std::span<const float>(x))),
                            ptx::argument(memory.add(std::span<float>(y))),
                            ptx::argument(std::int64_t(size))};
        ptx::interpret(module, "scaled", launch, memory, schedule);
    }
    return y;
}

Value* thread_of(Function& f) { return f.ir().CreateZExt(f.thread(), f.ir().getInt64Ty()); }

}  // namespace

TEST_CASE("block_reduce reduces over all threads of blocks of any size") {
    for (int threads : {32, 64, 256, 1024}) {
        CAPTURE(threads);
        const Scaled sum = scaled(kernel::Reduction::sum), largest = scaled(kernel::Reduction::max);
        for (const Scaled* one : {&sum, &largest}) {
            const auto y = run(*one, threads, std::size_t(threads), [&](Function& f) {
                f.set_position(one->i, thread_of(f));
                const kernel::Reduction reduction =
                    as<Reduce>(one->kernel, one->reduced)->reduction;
                f.define(one->reduced, f.block_reduce(reduction, f.value(one->value)));
                f.store(as<Store>(one->kernel, one->store)->access, f.value(one->product));
            });
            const float total = one == &sum ? -float(threads) / 2 : float(threads - 1);
            for (std::size_t i = 0; i < y.size(); ++i)
                CHECK(y[i] == (i % 2 ? -1.F : 1.F) * float(i + 1) * total);
        }
    }
}

TEST_CASE("group_reduce keeps groups apart") {
    const Scaled one = scaled(kernel::Reduction::sum);
    for (int lanes : {1, 2, 8, 32}) {
        CAPTURE(lanes);
        const auto y = run(one, 64, 64, [&](Function& f) {
            f.set_position(one.i, thread_of(f));
            f.define(one.reduced,
                     f.group_reduce(kernel::Reduction::sum, f.value(one.value), lanes));
            f.store(as<Store>(one.kernel, one.store)->access, f.value(one.reduced));
        });
        for (int i = 0; i < 64; ++i)
            CHECK(y[std::size_t(i)] ==
                  (lanes > 1 ? -float(lanes) / 2 : (i % 2 ? -1.F : 1.F) * float(i + 1)));
    }
}

TEST_CASE("a value that is defined anew changes what is made from it, and ends with its block") {
    const Scaled one = scaled(kernel::Reduction::sum);
    const Access access = as<Store>(one.kernel, one.store)->access;
    const auto y = run(one, 32, 3, [&](Function& f) {
        f.when(f.ir().CreateICmpEQ(f.thread(), f.ir().getInt32(0)), [&] {
            f.set_position(one.i, f.number(0));
            f.define(one.reduced, emit::nvptx::float_constant(f.ir(), 10));
            f.scope([&] {
                f.define(one.reduced, emit::nvptx::float_constant(f.ir(), 20));
                f.store(access, f.value(one.product));  // 1 * 20
                f.set_position(one.i, f.number(1));
                f.store(access, f.value(one.product));  // -2 * 20
            });
            Value* product = f.value(one.product);  // 1 * 10
            f.set_position(one.i, f.number(2));
            f.store(access, product);
            CHECK(f.is_known(one.reduced));  // wherever
            CHECK(!f.is_known(one.value));   // at 2
            f.define(one.value, emit::nvptx::float_constant(f.ir(), 7));
            CHECK(!f.is_known(one.reduced));  // it is made from the value
        });
        CHECK(!f.is_known(one.reduced));
        CHECK_THROWS_AS(f.value(one.reduced), InternalError);
        CHECK_THROWS_AS(f.position(one.i), InternalError);
    });
    CHECK(y == std::vector<float>{20, -40, 10});
}

TEST_CASE("loops carry values, and may have no turns") {
    const Scaled one = scaled(kernel::Reduction::sum);
    const auto y = run(one, 32, 5, [&](Function& f) {
        const auto sum_below = [&](std::int64_t end) {
            return f.loop_carrying(
                f.number(0), f.number(end), f.number(1), {emit::nvptx::float_constant(f.ir(), 0)},
                [&](Value* at, const emit::nvptx::Values& carried) {
                    f.set_position(one.i, at);
                    return emit::nvptx::Values{f.ir().CreateFAdd(carried[0], f.value(one.value))};
                })[0];
        };
        f.when(f.ir().CreateICmpEQ(f.thread(), f.ir().getInt32(0)), [&] {
            for (std::int64_t i = 0; i < 5; ++i) {
                Value* sum = sum_below(i);
                f.set_position(one.i, f.number(i));
                f.store(as<Store>(one.kernel, one.store)->access, sum);
            }
        });
    });
    CHECK(y == std::vector<float>{0, 1, -1, 2, -2});
}

TEST_CASE("two entries of one name are refused") {
    const Scaled one = scaled(kernel::Reduction::sum);
    ModuleBuilder builder("test", {target::gpu_of("sm_80")});
    Function first(builder.module(), one.kernel, "scaled", 32);
    first.finish();
    CHECK_THROWS_WITH_AS(Function(builder.module(), one.kernel, "scaled", 32),
                         "two entries are called scaled", InternalError);
}
