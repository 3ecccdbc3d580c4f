// Kernels that look rows up take a table of float32 and one of 16 bits.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>

#include "codegen/kernel/builder.h"
#include "runtime/memory/halves.h"
#include "tests/emit/compiled_model.h"

using namespace fovea;
using namespace fovea::kernel;
using namespace fovea::test;

namespace {

constexpr int kTableRows = 7, kTableWidth = 21, kTableIds = 19;

/// x [ids, width] = rows of a table, the lanes along the width: the last ones are no vector.
Kernel rows_of_table() {
    Builder b("rows_of_table");
    const AxisId i = b.axis("i", kTableIds), j = b.axis("j", kTableWidth);
    const int ids = b.input("ids", {kTableIds}, i32),
              table = b.input("table", {kTableRows, kTableWidth});
    const int x = b.output("x", {kTableIds, kTableWidth});
    b.each(i, [&] {
        const Id id = b.load(b.at(ids, {i}));
        b.store(b.at(x, {i, j}), b.load(b.at_row(table, id, {j})));
    });
    return b.finish();
}

/// x [ids] = numbers of a table by ids, which lie along the lanes.
Kernel numbers_of_table() {
    Builder b("numbers_of_table");
    const AxisId i = b.axis("i", kTableIds);
    const int ids = b.input("ids", {kTableIds}, i32), table = b.input("table", {kTableRows});
    const int x = b.output("x", {kTableIds});
    b.store(b.at(x, {i}), b.load(b.at_row(table, b.load(b.at(ids, {i})), {})));
    return b.finish();
}

/// x [width, ids] = columns of the rows: vectors have a stride in the table.
Kernel columns_of_table() {
    Builder b("columns_of_table");
    const AxisId i = b.axis("i", kTableIds), j = b.axis("j", kTableWidth);
    const int ids = b.input("ids", {kTableIds}, i32),
              table = b.input("table", {kTableRows, kTableWidth});
    const int x = b.output("x", {kTableWidth, kTableIds});
    b.each(j, [&] {
        const Id id = b.load(b.at(ids, {i}));
        b.store(b.at(x, {j, i}), b.load(b.at_row(table, id, {j})));
    });
    return b.finish();
}

/// A model whose programs are these kernels, over a parameter in the place of their tables.
plan::Model model_of_tables() {
    std::vector<Kernel> kernels = {rows_of_table(), numbers_of_table(), columns_of_table()};
    for (Kernel& kernel : kernels) kernel.buffers[1].looked_up = true;
    plan::Model model = model_of_kernels("tables", kernels);
    for (plan::Program& program : model.programs) {
        std::swap(program.tensors[0], program.tensors[1]);  // parameters are the first
        program.tensors[0].role = plan::Role::parameter;
        program.steps[0].arguments = {1, 0, 2};
    }
    model.parameters = {model.programs[0].tensors[0]};
    return model;
}

/// What a program makes of a table.
std::vector<float> looked_up(const runtime::Program& program, const void* table,
                             fovea::DType type) {
    std::vector<std::int32_t> ids(kTableIds);
    for (int i = 0; i < kTableIds; ++i) ids[std::size_t(i)] = i * 3 % kTableRows;
    std::vector<float> x(kTableIds * kTableWidth, -1);
    const bool is_half = type != f32;
    void* tensors[] = {is_half ? nullptr : const_cast<void*>(table), ids.data(), x.data()};
    const runtime::HalfFloats halves{is_half ? table : nullptr,
                                     type == f16 ? runtime::DType::f16 : runtime::DType::bf16};
    runtime::Call call;
    call.tensors = tensors;
    call.halves = &halves;
    program.run(call);
    return x;
}

}  // namespace

TEST_CASE("rows are looked up in tables of any type of float") {
    for (const std::string& isa : isas_here()) {
        CAPTURE(isa);
        const runtime::Model& model = compile_and_load(model_of_tables(), isa, "-O1");
        for (const runtime::Program& program : model.programs) {
            CAPTURE(program.name);
            for (const runtime::DType half : {runtime::DType::bf16, runtime::DType::f16}) {
                std::vector<std::uint16_t> bits(kTableRows * kTableWidth);
                std::iota(bits.begin(), bits.end(), std::uint16_t(0x3f00));
                bits[4] = 1, bits[5] = 0x8000;  // the smallest, -0
                std::vector<float> floats;
                for (const std::uint16_t one : bits)
                    floats.push_back(runtime::float_of_half(half, one));
                const fovea::DType type = half == runtime::DType::f16 ? f16 : bf16;
                CHECK(looked_up(program, bits.data(), type) ==
                      looked_up(program, floats.data(), f32));
            }
        }
    }
}
