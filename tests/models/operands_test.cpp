// What kernels read: operands where they lie, and nothing behind them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dsl/fovea.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/fuzz/run_generated.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

/// `a b, b` multiplies the columns of a weight, and sums nothing.
void scaled_weight(Scope s) {
    const Tensor weight = s.parameter("weight", {43, 43}), scale = s.input("scale", {43});
    s.output("y", einsum("a b, b, c b -> c a", weight, scale, s.input("x", {"batch", 43})));
}

/// Heads whose widths are no whole vectors.
void narrow_attention(Scope s) {
    const Tensor q = s.input("q", {2, "batch", 24}), k = s.input("k", {2, "batch", 24});
    s.output("y", attention(q, k, s.input("v", {2, "batch", 20}), dot_product, causal));
}

LoadedModel model_of(void (&build)(Scope), DType dtype) {
    LoadedModel model;
    build(Scope{&model.graph});
    model.entry.name = "operands";
    model.dtype = dtype;
    return model;
}

}  // namespace

TEST_CASE("a product without a sum reads its weight where it lies") {
    const LoadedModel model = model_of(scaled_weight, DType::f32);
    for (const bool fused : {false, true}) {
        const CompiledModel compiled =
            compile(model, {runner_program(model, true, false, {fused})});
        const auto generated = model_on({"cpu", ""}, compiled.plan, model.dtype, Optimized::little);
        for (const VerifyRow& row :
             verify_kernels(compiled.plan, compiled.programs[0], *generated,
                            {{{"batch", 3}}, Sample::Lengths::any, 3}, false))
            CHECK_MESSAGE(row.ok, row.kernel);
    }
}

TEST_CASE("nothing is read or written behind inputs and outputs") {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
        const LoadedModel model = model_of(narrow_attention, dtype);
        const CompiledModel compiled =
            compile(model, {runner_program(model, true, false, {true, AttentionForm::fused})});
        for (const std::string& isa : {std::string("baseline"), isa_of_this_machine({dtype})}) {
            CAPTURE(isa);
            const auto& generated =
                load_generated(compiled.plan, isa, Keep::in_cache, Optimized::little);
            for (const std::int64_t batch : {1, 11, 70}) {
                const Sample sample{{{"batch", batch}}, Sample::Lengths::any, 3};
                const plan::Program& program = compiled.plan.programs[0];
                const Values given = draw_values(program, sample);
                const Values outputs = fuzz::GeneratedRuns(generated, program, sample.dims, given)
                                           .run(sample.dims, given, 1, 1);
                for (const auto& [name, array] : outputs)
                    CHECK(std::ranges::all_of(array.values,
                                              [](double x) { return std::isfinite(x); }));
            }
        }
    }
}
