#include "codegen/emit/cpp/contraction_epilogue.h"

#include <doctest/doctest.h>

#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/kernel/builder.h"

using namespace fovea;
using namespace fovea::kernel;

namespace {

/// y = a b + bias + residual; `turned`: y and the residual lie in columns.
Kernel added_product(const Dim& terms, bool turned, DType of_residual = f32) {
    Builder it("added");
    const Dim rows = "m", columns = 64;
    const AxisId i = it.axis("i", rows), j = it.axis("j", columns), d = it.axis("d", terms);
    const int a = it.input("a", {rows, terms}), b = it.input("b", {terms, columns}),
              bias = it.input("bias", {columns});
    const std::vector<Dim> shape = turned ? std::vector{columns, rows} : std::vector{rows, columns};
    const int residual = it.input("residual", shape, of_residual), y = it.output("y", shape);
    const auto at = [&](int buffer) {
        return turned ? it.at(buffer, {j, i}) : it.at(buffer, {i, j});
    };
    it.par({i, j}, [&] {
        const Id sum = it.contract(it.load(it.at(a, {i, d})), it.load(it.at(b, {d, j})), {d});
        const Id before = it.load(at(residual));
        const Id total = it.add(sum, it.load(it.at(bias, {j})));
        it.store(at(y), it.add(total, is_half(of_residual) ? it.cast(before, f32) : before));
    });
    return it.finish();
}

/// The names of what its tiles fetch on their way.
std::string fetched(const Kernel& kernel) {
    const LoopNest nest = loop_nest(kernel);
    const ContractionSchedule schedule = contraction_schedule(kernel, {});
    const Contract& contract = *as<Contract>(kernel, nest.contract);
    emit::ContractionEpilogue epilogue{kernel, schedule, nest.contract, {}, {}};
    for (Id id : nest.nodes) {
        if (id == nest.contract || id == contract.a || id == contract.b) continue;
        (as<Store>(kernel, id) ? epilogue.stores : epilogue.nodes).push_back(id);
    }
    std::string names;
    for (const Access& access : epilogue.tensors())
        names += kernel.buffers[std::size_t(access.buffer)].name + " ";
    return names;
}

}  // namespace

TEST_CASE("tiles of long sums fetch what their epilogue reads and writes row by row") {
    CHECK(fetched(added_product(256, false)) == "y residual ");
    CHECK(fetched(added_product("k", false)) == "y residual ");
    CHECK(fetched(added_product(256, false, bf16)) == "y residual ");
    CHECK(fetched(added_product(255, false)) == "");
}

TEST_CASE("rows are those of memory, whichever axis that is") {
    const Kernel kernel = added_product(256, true);
    const ContractionSchedule schedule = contraction_schedule(kernel, {});
    CHECK(kernel.axes[std::size_t(schedule.columns)].name == "i");
    CHECK(fetched(kernel) == "y residual ");
}
