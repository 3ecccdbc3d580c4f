// Programs whose batch runs in shards: any number of threads gives the same bits, each sequence's
// values are those of a run on the whole batch, and what is summed over the batch differs by
// rounding. Dropout draws for the sequences of the batch, whichever shard they are in.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "dsl/fovea.h"
#include "runtime/runner/bench_model.h"
#include "runtime/session.h"
#include "runtime/threads.h"
#include "tests/random_seed.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

CompiledModel compile_with(const std::string& name, const SettingValues& settings,
                           const std::string& schedule) {
    LoadedModel model = load_model(name, settings);
    read_schedule(schedule, "test", model.targets);
    return compile(model, {runner_program(model, true, true, true)});
}

struct Built {
    plan::Shards shards;
    const runtime::Model* cut = nullptr;
    const runtime::Model* whole = nullptr;  // the same, never cut
};

Built build_both(const std::string& name, const SettingValues& settings) {
    CompiledModel cut = compile_with(name, settings, "cpu.shards.count = 8\n");
    CompiledModel whole = compile_with(name, settings, "cpu.shards.count = 1\n");
    whole.plan.name += "_whole";
    const auto loaded =
        load_together({&cut.plan, &whole.plan}, isa_of_this_machine(), Optimized::little);
    return {cut.plan.programs[0].shards, loaded[0], loaded[1]};
}

using Values = std::map<std::string, std::vector<float>>;

enum class GradientsLie { apart, in_workspace };

constexpr std::size_t kBehind = 1024;  // floats behind the last gradient

/// Gradients of parameters, where a training step has them.
void place_in_workspace(const runtime::Parameters& parameters, runtime::Instance& instance) {
    std::vector<runtime::Instance::OutputPlace> gradients;
    for (std::size_t i = 0; i < parameters.count(); ++i)
        gradients.push_back(
            {instance.model().parameters[i].name + ".grad", parameters.offset(i) * sizeof(float)});
    instance.place_in_workspace(gradients, (parameters.trained_size() + kBehind) * sizeof(float));
}

/// What lies between gradients, and behind them, is as it was: zeros.
void check_gaps(runtime::Parameters& parameters, runtime::Instance& instance) {
    const auto* flat = static_cast<const float*>(instance.workspace());
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const std::size_t end = i + 1 < parameters.count() ? parameters.offset(i + 1)
                                                           : parameters.trained_size() + kBehind;
        std::size_t at = parameters.offset(i) + parameters.values(i).size();
        for (; at < end; ++at) CHECK(flat[at] == 0);
    }
}

Values run_twice(const runtime::Model& model, const runtime::DimValues& dims, int threads,
                 GradientsLie gradients = GradientsLie::apart) {
    runtime::Parameters parameters(model, dims);
    parameters.initialize(5);
    runtime::Instance instance(model, model.programs[0].name, parameters);
    if (gradients == GradientsLie::in_workspace) place_in_workspace(parameters, instance);
    instance.bind(dims);
    runtime::fill_random(instance, 3);
    const int before = runtime::thread_count();
    runtime::set_threads(threads);
    // The second run finds what the first has left in memory.
    for (int i = 0; i < 2; ++i) instance.run(11, 3);
    runtime::set_threads(before);
    if (gradients == GradientsLie::in_workspace) check_gaps(parameters, instance);
    Values values;
    for (const runtime::TensorSpec& output : model.programs[0].outputs) {
        const auto from = instance.output_values(output.name);
        values[output.name].assign(from.begin(), from.end());
    }
    return values;
}

/// The outputs whose bits differ.
std::string differing(const Values& a, const Values& b) {
    std::string names;
    for (const auto& [name, values] : a) {
        const std::vector<float>& others = b.at(name);
        if (values.size() != others.size() ||
            std::memcmp(values.data(), others.data(), values.size() * sizeof(float)) != 0)
            names += name + " ";
    }
    return names;
}

bool is_sum(const runtime::Model& model, const std::string& name, int dim) {
    for (const runtime::TensorSpec& output : model.programs[0].outputs)
        if (output.name == name) return output.shape.empty() || output.shape[0].as_dim() != dim;
    return false;
}

void check_sums(const std::vector<float>& cut, const std::vector<float>& whole) {
    REQUIRE(cut.size() == whole.size());
    float largest = 0, error = 0;
    for (std::size_t i = 0; i < cut.size(); ++i) {
        largest = std::max(largest, std::abs(whole[i]));
        error = std::max(error, std::abs(cut[i] - whole[i]));
    }
    CHECK(error <= 2e-5F * std::max(largest, 1e-3F));
}

struct Case {
    std::string name;
    SettingValues settings;
    runtime::DimValues lengths;
};

const std::vector<Case> kCases = {
    {"transformer",
     {{"hidden", "24"}, {"ffn", "20"}, {"heads", "2"}, {"layers", "1"}, {"dropout", "0.3"}},
     {{"src_len", 5}, {"tgt_len", 7}, {"src_vocab", 13}, {"tgt_vocab", 19}}},
    // One table for both embeddings and the last product: its gradient is a sum of sums.
    {"attention_is_all_you_need",
     {{"d_model", "16"},
      {"d_inner", "12"},
      {"layers", "1"},
      {"heads", "2"},
      {"d_k", "8"},
      {"d_v", "6"},
      {"share_embeddings", "true"},
      {"src_vocab", "14"},
      {"tgt_vocab", "14"}},
     {{"src_len", 4}, {"tgt_len", 6}}},
    // Without a loss, gradients come from cotangents among the inputs.
    {"decoder_block",
     {{"hidden", "16"}, {"ffn", "9"}, {"heads", "2"}},
     {{"len", 5}, {"memory_len", 3}}},
    {"seq2seq_attention",
     {{"embed", "8"}, {"hidden", "12"}, {"layers", "2"}},
     {{"src_len", 3}, {"tgt_len", 4}, {"src_vocab", 13}, {"tgt_vocab", 9}}}};

void check_model(const Case& model) {
    CAPTURE(model.name);
    const Built built = build_both(model.name, model.settings);
    CAPTURE(built.shards.reason);
    REQUIRE(built.shards.count == 8);
    CHECK(built.whole->programs[0].shards.count == 1);
    const int batch_dim = built.cut->programs[0].shards.dim;
    for (std::int64_t batch : {0, 1, 2, 7, 8, 21}) {
        CAPTURE(batch);
        runtime::DimValues dims = model.lengths;
        dims["batch"] = batch;
        const Values of_one = run_twice(*built.cut, dims, 1);
        for (int threads : {2, 3, 7, 11}) {
            CAPTURE(threads);
            CHECK(differing(of_one, run_twice(*built.cut, dims, threads)) == "");
        }
        const Values whole = run_twice(*built.whole, dims, 2);
        CHECK(differing(of_one, run_twice(*built.cut, dims, 2, GradientsLie::in_workspace)) == "");
        CHECK(differing(whole, run_twice(*built.whole, dims, 2, GradientsLie::in_workspace)) == "");
        for (const auto& [output, values] : of_one) {
            CAPTURE(output);
            if (is_sum(*built.cut, output, batch_dim)) check_sums(values, whole.at(output));
            else CHECK(differing({{output, values}}, {{output, whole.at(output)}}) == "");
        }
    }
}

}  // namespace

TEST_CASE("models with gradients are cut") {
    for (const Case& model : kCases) {
        CAPTURE(model.name);
        const CompiledModel cut =
            compile_with(model.name, model.settings, "cpu.shards.count = 8\n");
        CAPTURE(cut.plan.programs[0].shards.reason);
        CHECK(cut.plan.programs[0].shards.count == 8);
    }
}

TEST_CASE("the bits of shards do not depend on the threads, nor their values on the shards") {
    const std::vector<Case> models(kCases.begin(), kCases.end());
    for (const Case& model : test::turns_of(models, models.size())) check_model(model);
}

TEST_CASE("numbers that all sequences share are drawn alike in each shard") {
    std::vector<CompiledModel> compiled;
    for (const char* schedule : {"cpu.shards.count = 8\n", "cpu.shards.count = 1\n"}) {
        LoadedModel model;
        Scope s{&model.graph};
        Tensor x = s.input("x", {"batch", 3, 8});
        Tensor own = dropout(linear(s / "l", x, 8), 0.5);
        s.output("loss", mean(mean(square(own * random(s, {3, 8}, 0.5, 7)), 1), 1));
        model.entry.name = compiled.empty() ? "cut" : "whole";
        read_schedule(schedule, "test", model.targets);
        compiled.push_back(compile(model, {runner_program(model, true, true, true)}));
    }
    REQUIRE(compiled[0].plan.programs[0].shards.count == 8);
    const auto loaded = load_together({&compiled[0].plan, &compiled[1].plan}, isa_of_this_machine(),
                                      Optimized::little);
    const auto cut = run_twice(*loaded[0], {{"batch", 21}}, 3);
    const auto whole = run_twice(*loaded[1], {{"batch", 21}}, 2);
    CHECK(differing({{"loss", cut.at("loss")}}, whole) == "");
    CHECK(differing({{"x.grad", cut.at("x.grad")}}, whole) == "");
    check_sums(cut.at("l.weight.grad"), whole.at("l.weight.grad"));
}

TEST_CASE("sums over the batch that are too large, and observers, keep the batch whole") {
    const CompiledModel compiled =
        compile_with("position_wise_ffn", {{"input", "3"}, {"ffn", "5"}, {"output", "2"}},
                     "cpu.shards.most_floats = 200\n");
    REQUIRE(compiled.plan.programs[0].shards.count == 8);
    const runtime::Model& model =
        load_generated(compiled.plan, isa_of_this_machine(), Keep::in_cache, Optimized::little);
    const runtime::DimValues dims = {{"batch", 9}, {"len", 2}};
    runtime::Parameters parameters(model, dims);
    parameters.initialize(1);
    runtime::Instance instance(model, model.programs[0].name, parameters);
    instance.bind({{"batch", 3}, {"len", 2}});
    CHECK(instance.shards() == 3);
    instance.bind(dims);
    CHECK(instance.shards() == 8);
    runtime::fill_random(instance, 1);
    instance.run();
    const auto weight = instance.output_values("dense1.weight.grad");
    const std::vector<float> in_shards(weight.begin(), weight.end());
    int observed = 0;
    runtime::Call call;
    call.observe = [](void* state, int) { ++*static_cast<int*>(state); };
    call.observe_state = &observed;
    instance.run_call(call);
    CHECK(instance.shards() == 1);
    CHECK(observed == int(model.programs[0].kernels.size()));
    const auto again = instance.output_values("dense1.weight.grad");
    check_sums(in_shards, {again.begin(), again.end()});

    runtime::Model small = model;
    small.programs[0].shards.most_floats = 10;
    runtime::Instance never(small, small.programs[0].name, parameters);
    never.bind(dims);
    CHECK(never.shards() == 1);
}

TEST_CASE("a program says why its batch is not cut") {
    const auto reason = [](const std::string& name, const SettingValues& settings,
                           const std::string& schedule = "") {
        return compile_with(name, settings, schedule).plan.programs[0].shards.reason;
    };
    CHECK(reason("position_wise_ffn", {}, "cpu.shards.count = 1\n") == "cpu.shards.count is 1");
    CHECK(reason("position_wise_ffn", {}, "cpu.shards.most_floats = 20\n") ==
          "its gradients have 60 floats, more than cpu.shards.most_floats, 20");
    LoadedModel model = load_model("position_wise_ffn", {});
    CHECK(compile(model, {runner_program(model, false, false, true)})
              .plan.programs[0]
              .shards.reason == "it gives no gradients");
    CHECK(compile(model, {runner_program(model, true, false, true)}, Kernels::of_gpu)
              .plan.programs[0]
              .shards.reason == "a GPU's threads wait for each other within a kernel alone");
}
