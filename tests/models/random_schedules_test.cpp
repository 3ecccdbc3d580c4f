// A schedule changes how fast kernels are, not what they compute: models pass the checks of
// `fovea verify` with schedules drawn at random from the ranges of their numbers. What a schedule
// asks for beyond an architecture is refused in a sentence. FOVEA_SEED sets the seed.
#include <doctest/doctest.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "tests/random_seed.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/draw_schedule.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

struct Tried {
    std::string model;
    SettingValues settings;
};

/// Products, rows and attention, of sizes beside those of tiles and in them.
const std::vector<Tried> kTried = {
    {"multi_head_attention",
     {{"query_size", "24"},
      {"key_size", "20"},
      {"value_size", "17"},
      {"hidden", "32"},
      {"heads", "2"}}},
    {"encoder_block", {{"hidden", "48"}, {"ffn", "300"}, {"heads", "3"}}},
    {"additive_attention", {{"hidden", "24"}}},
    {"decoder_block", {{"hidden", "64"}, {"ffn", "33"}, {"heads", "2"}}}};

void check_with(const std::string& schedule, const Tried& tried, const tool::Target& target,
                DType dtype) {
    LoadedModel model = load_model(tried.model, tried.settings);
    model.dtype = dtype;
    read_schedule(schedule, "drawn", model.targets);
    const std::vector<ProgramRequest> requests = {runner_program(model, true, false, true)};
    const CompiledModel compiled = compile(model, requests, kernels_of(target));
    const auto generated = model_on(target, compiled.plan, model.dtype, Optimized::little);
    Sample sample{{}, Sample::Lengths::any, 7};
    for (const std::string& dim : compiled.plan.dims)
        sample.dims[dim] = dim == "batch" ? 2 : dim == "keys" ? 70 : 37;
    for (const VerifyRow& row :
         verify_kernels(compiled.plan, compiled.programs[0], *generated, sample, false)) {
        CAPTURE(row.kernel);
        CAPTURE(row.value_error.value_or(0));
        CHECK(row.ok);
    }
}

/// Whether it ran. A schedule that is refused names itself.
bool runs(const std::string& schedule, const Tried& tried, const tool::Target& target,
          DType dtype) {
    CAPTURE(tried.model);
    CAPTURE(schedule);
    try {
        check_with(schedule, tried, target, dtype);
        return true;
    } catch (const UserError& error) {
        CHECK_MESSAGE(is_of_schedule(error.what()), error.what());
    }
    return false;
}

}  // namespace

TEST_CASE("schedules drawn at random leave what models compute, on a CPU") {
    const unsigned start = test::random_seed();
    std::uint64_t seed = start;
    for (const Tried& tried : test::turns_of(kTried, 2))
        CHECK(runs(draw_schedule("cpu.", seed++), tried, {"cpu", ""}, DType::f32));
    CHECK(runs(draw_schedule("cpu.", seed++), kTried[1], {"cpu", ""}, DType::bf16));
}

TEST_CASE("schedules drawn at random leave what models compute, in PTX") {
    if (emit::why_not_ptx()) return;
    const unsigned start = test::random_seed();
    int ran = 0;
    for (int i = 0; i < 4; ++i) {
        const char* architecture = i % 2 ? "sm_90a" : "sm_80";
        ran += runs(draw_schedule("gpu.", start + unsigned(i)),
                    kTried[(start + unsigned(i)) % kTried.size()],
                    {"ptx-interpreter", architecture}, i % 3 ? DType::bf16 : DType::f32);
    }
    CHECK(ran >= 1);
}
