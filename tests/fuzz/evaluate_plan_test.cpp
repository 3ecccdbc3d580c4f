// Values of a plan's kernels, in float64: what the graph casts is rounded once.
#include "tools/fovea/fuzz/evaluate_plan.h"

#include <doctest/doctest.h>

#include "dsl/fovea.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

using namespace fovea;
using namespace fovea::tool;
using namespace fovea::tool::fuzz;

namespace {

constexpr DType kHalves[] = {f16, bf16};

template <int half>
void cast_to_half(Scope s) {
    s.output("y", cast(s.input("x", {"batch"}) * 2.0, kHalves[half]));
}

}  // namespace

TEST_CASE("an output of halves is the nearest one, not that of the nearest float") {
    void (*const models[])(Scope) = {cast_to_half<0>, cast_to_half<1>};
    for (int half = 0; half < 2; ++half) {
        CAPTURE(half);
        const NumberFormat& format = format_of(kHalves[half]);
        const double step = format.spacing(1);
        // A little above the middle of 1 and the next half: float32 has the middle itself.
        const double above = 1 + step / 2 + 0x1p-30, below = 1 + step * 3 / 2 - 0x1p-30;
        LoadedModel model;
        models[half](Scope{&model.graph});
        model.entry.name = "halves";
        model.dtype = kHalves[half];
        const CompiledModel compiled = compile(model, runner_programs(model, {false}));
        const Values outputs =
            evaluate_plan(compiled.plan, compiled.programs[0].plan, {{"batch", 2}},
                          {{"x", {{2}, {above / 2, below / 2}}}}, {});
        CHECK(outputs.at("y").values == std::vector<double>{1 + step, 1 + step});
    }
}
