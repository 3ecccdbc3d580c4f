// A training step whose model computes an id that is out of range.
#include <doctest/doctest.h>

#include <vector>

#include <fovea.h>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/pipeline.h"
#include "runtime/error.h"
#include "runtime/training_step.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr std::int64_t kTableRows = 7;

/// One parameter, whose rows are looked up by `ids` + 1.
plan::Model table_to_train() {
    Graph graph;
    Scope s{&graph};
    const Tensor table = s.parameter("table", {kTableRows, 4}, Initial::normal);
    const Tensor rows = gather(table, s.input("ids", {"batch"}, i32) + 1);
    s.output("loss", sum(rows * rows, -1));
    return compile_model("table", "", {},
                         {{.name = "training_step",
                           .graph = graph,
                           .training = true,
                           .gradients = Gradients::of_parameters}})
        .plan;
}

/// A step with an id out of range is refused and moves nothing; the next one moves parameters.
void check_training_on(const std::string& target) {
    const auto model =
        tool::model_on({target, "sm_80"}, table_to_train(), f32, tool::Optimized::little);
    runtime::Parameters parameters(*model, {});
    parameters.initialize(3);
    runtime::Optimizer optimizer(parameters.trained_size(), {});
    runtime::TrainingStep step(*model, parameters, optimizer);
    const auto values = [&] {
        parameters.fetch();
        return std::vector<float>(parameters.flat().begin(), parameters.flat().end());
    };
    const std::vector<float> before = values();
    step.instance().bind({{"batch", 3}});
    auto* ids = step.instance().input<std::int32_t>("ids");
    for (const int last : {int(kTableRows) - 1, int(kTableRows) - 2, -2}) {
        CAPTURE(last);
        ids[0] = 0, ids[1] = -1, ids[2] = last;
        const std::vector<float> old = values();
        const bool fits = last == int(kTableRows) - 2;
        if (fits) CHECK(step.run(1, 1, {.learning_rate = 0.1}).moved);
        else CHECK_THROWS_AS(step.run(1, 1, {.learning_rate = 0.1}), runtime::UserError);
        CHECK((values() == old) == !fits);
    }
    CHECK(values() != before);
}

}  // namespace

TEST_CASE("a training step with a computed id out of range moves nothing") {
    check_training_on("cpu");
    if (!emit::why_not_ptx()) check_training_on("ptx-interpreter");
}
