// Products by schedules at the edges of what an architecture has: kept, or refused in a sentence.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/kernel/builder.h"
#include "codegen/target/target.h"
#include "tests/nvptx/run_ptx.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

/// y = x w of bfloat16, with so many columns.
Kernel scheduled_product(const Dim& columns) {
    Builder it("product");
    const AxisId i = it.axis("i", "m"), j = it.axis("j", columns), d = it.axis("d", 64);
    const int x = it.input("x", {"m", 64}, DType::bf16),
              w = it.input("w", {columns, 64}, DType::bf16);
    const int y = it.output("y", {"m", columns});
    it.par({i, j}, [&] {
        const Id a = it.load(it.at(x, {i, d})), b = it.load(it.at(w, {j, d}));
        it.store(it.at(y, {i, j}), it.contract(a, b, {d}, Factors::bf16));
    });
    return it.finish();
}

using Change = std::function<void(target::GpuContraction&)>;

target::Gpu changed(const std::string& architecture, const Change& change) {
    target::Gpu target = target::gpu_of(architecture);
    change(target.contraction);
    return target;
}

std::string refusal_of(const std::string& architecture, const Dim& columns, const Change& change) {
    try {
        emit_and_parse({scheduled_product(columns)}, changed(architecture, change));
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("schedules that an architecture cannot keep are refused") {
    const std::string memory =
        refusal_of("sm_80", 512, [](auto& c) { c.stages = 6, c.depth_bytes = 128; });
    CAPTURE(memory);
    CHECK(memory.starts_with("the schedule cannot be kept by kernel product: a block would take "));
    CHECK(memory.find("and sm_80 gives it 166912 at most; change gpu.contraction.") != memory.npos);
    CHECK(refusal_of("sm_90a", 512, [](auto& c) { c.copying_registers = 80; }) ==
          "the schedule cannot be kept by kernel product: its threads would have 69632 registers, "
          "and a multiprocessor has 65536; change gpu.contraction.copying_registers and "
          "multiplying_registers");
    CHECK(refusal_of("sm_90a", 512, [](auto&) {}).empty());
}

TEST_CASE("tiles of 256 columns stand beside those of 128 rows alone") {
    const Kernel kernel = scheduled_product(72);
    const target::Gpu target = changed("sm_90a", [](auto& c) { c.large = 4096, c.very_large = 5; });
    CHECK(emit::nvptx::plan_contraction(kernel, {.target = target}).tile_columns == 64);
}

TEST_CASE("one group that multiplies keeps its registers") {
    const target::Gpu target = changed("sm_90a", [](auto& c) { c.many_sums = 1; });
    const Kernel one = scheduled_product(72), two = scheduled_product(512);
    CHECK(emit_and_parse({one}, target).ptx.text.find("setmaxnreg") == std::string::npos);
    CHECK(emit_and_parse({two}, target).ptx.text.find("setmaxnreg") != std::string::npos);
    check_kernels({one}, {{{"m", 130}}}, 1e-5);
}
