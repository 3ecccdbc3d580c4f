// Norms between products, which each thread computes for itself where the batch is small.
#include <doctest/doctest.h>

#include <fovea.h>

#include <cmath>

#include "runtime/session.h"
#include "runtime/threads.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

/// Norms and gates of a row stand between products; `logits` is no buffer.
void rows_between_norms(Scope s) {
    Tensor x = s.input("x", {"batch", {"width", 200}});
    for (const char* name : {"first", "second", "third"}) {
        const Scope layer = s / name;
        const Tensor y = layer_norm(layer / "norm", linear(layer / "in", x, 200));
        x = x + linear(layer / "out", softmax(y) * 3.0 + tanh(y), 200);
    }
    s.output("logits", x);
}

CompiledModel compiled_rows(bool with_gradients) {
    LoadedModel model;
    model.entry.name = "rows";
    rows_between_norms(Scope{&model.graph});
    return compile(model, {runner_program(model, with_gradients, false, true)});
}

std::vector<float> logits_of(const runtime::Model& model, std::int64_t batch, int threads) {
    const int before = runtime::thread_count();
    runtime::set_threads(threads);
    runtime::Parameters parameters(model, {});
    parameters.initialize(7);
    runtime::Instance instance(model, "forward", parameters);
    instance.bind({{"batch", batch}});
    float* const x = instance.input<float>("x");
    for (std::int64_t i = 0; i < batch * 200; ++i) x[i] = std::sin(float(i));
    instance.run();
    const auto values = instance.output_values("logits");
    runtime::set_threads(before);
    return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("steps that threads have for themselves have the bits of shared ones") {
    const CompiledModel all = compiled_rows(false);
    const plan::Program& program = all.plan.programs[0];
    CHECK(program.replicas.slots > 0);
    int phases = program.steps.back().phase + 1, rounds = 0;
    for (const plan::Step& step : program.steps) rounds += step.round > 0;
    CHECK(rounds >= 3);
    CHECK(phases <= int(program.steps.size()) - 3);
    const auto model = model_on({"cpu", ""}, all.plan, f32, Optimized::little);
    for (const std::int64_t batch : {1, 3, 50}) {
        const std::vector<float> alone = logits_of(*model, batch, 1);
        for (const int threads : {2, 3, 5}) CHECK(logits_of(*model, batch, threads) == alone);
    }
}
