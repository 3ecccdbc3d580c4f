// A schedule changes how fast kernels are, not what they compute: models pass the checks of
// `fovea verify` with schedules drawn at random from the ranges of their numbers. What a schedule
// asks for beyond an architecture is refused in a sentence. FOVEA_SEED sets the seed.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/target/schedule.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule_option.h"
#include "tools/fovea/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

unsigned seed_of_schedules() {
    if (const char* given = std::getenv("FOVEA_SEED")) return unsigned(std::atoi(given));
    return std::random_device{}() % 1000000;
}

class DrawnSchedules {
  public:
    explicit DrawnSchedules(unsigned seed) : generator_(seed) {}

    /// A line for each number that starts so, but for every fourth.
    std::string draw(const std::string& start) {
        std::string text;
        for (const target::ScheduleEntry& entry : target::schedule_entries())
            if (entry.name.starts_with(start) && share() > 0.25)
                text += entry.name + " = " + target::text_of(value(entry.limits)) + "\n";
        return text;
    }

  private:
    double share() { return std::uniform_real_distribution<>(0, 1)(generator_); }
    /// Of long ranges as often from 1 to 10 as from 10 to 100.
    double value(const target::Limits& limits) {
        const double first = std::max(limits.least, 1.0);
        double drawn = limits.least + share() * (limits.most - limits.least);
        if (limits.power_of_two || limits.most > 1000 * first)
            drawn = first * std::pow(limits.most / first, share());
        if (!limits.whole) return drawn;
        if (limits.power_of_two) return std::exp2(std::round(std::log2(drawn)));
        const double rounded = std::floor(drawn / limits.step) * limits.step;
        return rounded < limits.least ? rounded + limits.step : rounded;
    }

    std::mt19937 generator_;
};

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
        const std::string text = error.what();
        CHECK_MESSAGE(text.starts_with("the schedule cannot be kept by kernel "), text);
        CHECK(text.find("; change gpu.") != text.npos);
    }
    return false;
}

}  // namespace

TEST_CASE("schedules drawn at random leave what models compute, on a CPU") {
    const unsigned start = seed_of_schedules();
    MESSAGE("FOVEA_SEED=", start);
    DrawnSchedules schedules(start);
    for (const Tried& tried : kTried)
        CHECK(runs(schedules.draw("cpu."), tried, {"cpu", ""}, DType::f32));
    CHECK(runs(schedules.draw("cpu."), kTried[1], {"cpu", ""}, DType::bf16));
}

TEST_CASE("schedules drawn at random leave what models compute, in PTX") {
    if (emit::why_not_ptx()) return;
    const unsigned start = seed_of_schedules();
    MESSAGE("FOVEA_SEED=", start);
    DrawnSchedules schedules(start);
    int ran = 0;
    for (int i = 0; i < 12; ++i) {
        const char* architecture = i % 2 ? "sm_90a" : "sm_80";
        ran += runs(schedules.draw("gpu."), kTried[std::size_t(i) % kTried.size()],
                    {"ptx-interpreter", architecture}, i % 3 ? DType::bf16 : DType::f32);
    }
    CHECK(ran >= 3);
}
