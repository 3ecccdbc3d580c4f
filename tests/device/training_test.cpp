// Training steps with their optimizer on a device, beside those of this machine's cores.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>

#include "codegen/lower/optimizer_kernels.h"
#include "models/registry.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/on_device.h"
#include "runtime/device/training.h"
#include "runtime/runner/bench_model.h"
#include "runtime/training_step.h"
#include "tests/device/has_ptx.h"
#include "tests/random_seed.h"
#include "tests/tools/run_fovea.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/interpreter_device.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/programs.h"

using namespace fovea;
using runtime::OptimizerKind;
using runtime::OptimizerSettings;

namespace {

/// The training step of a small model, for both.
struct TrainedModels {
    /// The parameters of modules `frozen` are not trained.
    explicit TrainedModels(const std::string& name, const std::string& frozen = {}) {
        tool::LoadedModel loaded = tool::load_model(name, models::find_model(name)->small_settings);
        for (Node& node : loaded.graph.nodes)
            node.frozen = node.op == Op::parameter && !frozen.empty() &&
                          loaded.graph.path(node.scope).starts_with(frozen);
        const CompiledModel compiled = tool::compile(
            loaded, {tool::translator_programs(loaded, {})[0]}, tool::Kernels::of_gpu);
        host = &tool::load_generated(compiled.plan, "baseline");
        description = tool::description_of(compiled.plan);
        code = std::make_shared<const runtime::device::Code>(
            tool::compile_for_devices(compiled.plan, {"sm_80"}));
    }
    runtime::Model on(std::shared_ptr<runtime::device::Device> device) const {
        return runtime::device::on_device(description, std::move(device), code);
    }

    const runtime::Model* host = nullptr;
    runtime::Model description;
    std::shared_ptr<const runtime::device::Code> code;
};

const TrainedModels& transformer() {
    static const TrainedModels models("transformer");
    return models;
}

const runtime::DimValues kDims = {
    {"batch", 3}, {"src_len", 5}, {"tgt_len", 4}, {"src_vocab", 13}, {"tgt_vocab", 11}};

/// One training: what it is given, and what it measures.
struct Training {
    Training(const runtime::Model& model, OptimizerSettings settings)
        : parameters(model, kDims),
          optimizer(parameters.trained_size(), settings),
          step(model, parameters, optimizer) {
        parameters.initialize(3);
    }

    void load(int number) {
        step.instance().bind(kDims);
        runtime::fill_random(step.instance(), std::uint64_t(number % 2));
    }
    double run(int number, const runtime::StepRule& rule) {
        load(number);
        outcome = step.run(7, std::uint64_t(number), rule);
        double sum = 0;
        for (float loss : step.instance().output_values("loss")) sum += loss;
        return sum;
    }

    runtime::Parameters parameters;
    runtime::Optimizer optimizer;
    runtime::TrainingStep step;
    runtime::StepOutcome outcome;
};

double relative(double a, double b) { return std::abs(a - b) / std::max(1e-3, std::abs(b)); }

double largest_difference(std::span<const float> a, std::span<const float> b) {
    double largest = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
        largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
    return largest;
}

void check_same_state(Training& device, Training& host) {
    CHECK(largest_difference(device.parameters.flat(), host.parameters.flat()) < 2e-4);
    const auto first = device.optimizer.state(), second = host.optimizer.state();
    for (std::size_t i = 0; i < second.size(); ++i)
        CHECK(largest_difference(first[i].flat, second[i].flat) < 2e-4);
}

}  // namespace

TEST_CASE("ten training steps of the small transformer follow those of this machine's cores") {
    if (!test::has_ptx() || !test::has_turn(1, 2)) return;
    const TrainedModels& models = transformer();
    // With a small epsilon Adam moves parameters that have no gradient by the rounding of zero.
    const std::vector<OptimizerSettings> cases = {
        {.epsilon = 1e-4},
        {.kind = OptimizerKind::adamw, .epsilon = 1e-4, .weight_decay = 0.01},
        {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.001}};
    for (const OptimizerSettings& settings : test::turns_of(cases, 3)) {
        CAPTURE(runtime::name_of(settings.kind));
        const runtime::Model model = models.on(std::make_shared<tool::InterpreterDevice>());
        Training device(model, settings), host(*models.host, settings);
        Training one_step(*models.host, settings);  // on the host, from the device's parameters
        double first = 0, last = 0;
        for (int number = 0; number < 10; ++number) {
            CAPTURE(number);
            const runtime::StepRule rule{.learning_rate = 0.005, .clip = 1, .gradient_scale = 0.5};
            const std::span<const float> from = device.parameters.flat();
            std::copy(from.begin(), from.end(), one_step.parameters.flat().begin());
            one_step.run(number, rule);
            last = device.run(number, rule);
            if (number < 2) first += last / 2;
            CHECK(relative(last, host.run(number, rule)) < 1e-4);
            CHECK(device.outcome.moved);
            CHECK(relative(device.outcome.gradient_norm, one_step.outcome.gradient_norm) < 2e-5);
            // On the host alone, too, Adam makes 1e-4 of the norm out of the last bit of weights:
            // small gradients move parameters by what they were rounded to.
            CHECK(relative(device.outcome.gradient_norm, host.outcome.gradient_norm) < 5e-4);
        }
        CHECK(last < first);
        CHECK(device.optimizer.step() == 10);
        check_same_state(device, host);
    }
}

TEST_CASE("parameters that are frozen stay as they are, and have no state") {
    if (!test::has_ptx() || !test::has_turn(0, 2)) return;
    const TrainedModels models("transformer", "encoder");
    // Weight decay would move them.
    const OptimizerSettings settings{
        .kind = OptimizerKind::adamw, .epsilon = 1e-4, .weight_decay = 0.1};
    const runtime::Model model = models.on(std::make_shared<tool::InterpreterDevice>());
    Training device(model, settings), host(*models.host, settings);
    const std::size_t trained = host.parameters.trained_size();
    REQUIRE(trained < host.parameters.flat_size());
    CHECK(host.optimizer.state()[0].flat.size() == trained);
    for (Training* training : {&device, &host}) {
        const std::span<const float> all = training->parameters.flat();
        const std::vector<float> before(all.begin(), all.end());
        for (int number = 0; number < 3; ++number)
            training->run(number, {.learning_rate = 0.005, .clip = 1});
        const std::span<const float> after = training->parameters.flat();
        CHECK(!std::equal(after.begin(), after.begin() + std::ptrdiff_t(trained), before.begin()));
        CHECK(std::equal(after.begin() + std::ptrdiff_t(trained), after.end(),
                         before.begin() + std::ptrdiff_t(trained)));
    }
    check_same_state(device, host);
}

TEST_CASE("gradients of several batches move the parameters once, on a GPU too") {
    if (!test::has_ptx()) return;
    const TrainedModels& models = transformer();
    const runtime::Model model =
        models.on(runtime::device::open_cuda(FOVEA_BINARY_DIR "/fake_cuda/libcuda.so.1"));
    const OptimizerSettings settings{.epsilon = 1e-4};
    Training device(model, settings), host(*models.host, settings);
    for (int number = 0; number < 6; number += 3) {
        for (Training* training : {&device, &host}) {
            training->load(number);
            training->step.accumulate(7, std::uint64_t(number), 0.25);
            training->load(number + 1);
            training->step.accumulate(7, std::uint64_t(number) + 1, 0.25);
        }
        const runtime::StepRule rule{.learning_rate = 0.005, .clip = 0.1, .gradient_scale = 0.5};
        CHECK(relative(device.run(number + 2, rule), host.run(number + 2, rule)) < 1e-4);
        CHECK(relative(device.outcome.gradient_norm, host.outcome.gradient_norm) < 1e-4);
    }
    check_same_state(device, host);
    // What the host changes is seen by the next step, which is repeated as a graph later on.
    for (int number = 0; number < 4; ++number) {
        for (Training* training : {&device, &host})
            if (number == 1) training->parameters.values(0)[1] += 1;
        CHECK(relative(device.run(number, {.learning_rate = 0.005}),
                       host.run(number, {.learning_rate = 0.005})) < 1e-4);
    }
    check_same_state(device, host);
}

TEST_CASE("a training on a GPU starts with its parameters and no zeros from the host") {
    if (!test::has_ptx()) return;
    const std::string fake = FOVEA_BINARY_DIR "/fake_cuda/libcuda.so.1";
    const runtime::Model model = transformer().on(runtime::device::open_cuda(fake));
    void* const library = dlopen(fake.c_str(), RTLD_NOW);
    const auto count = reinterpret_cast<int (*)(const char*)>(dlsym(library, "fake_cuda_count"));
    Training training(model, {});
    const std::size_t parameters = training.parameters.flat_size() * sizeof(float);
    const int before = count("bytes from the host");
    training.run(0, {.learning_rate = 0.005});
    const auto sent = std::size_t(count("bytes from the host") - before);
    CHECK(sent >= parameters);
    CHECK(sent < parameters + 2000);  // inputs
}

TEST_CASE("a profile sees each kernel of a training step on a GPU, those of the optimizer too") {
    if (!test::has_ptx()) return;
    // The step of the test above, by a process of its own: the variable is read once.
    const tool::TemporaryFolder folder;
    const std::string trace = (folder.path() / "trace.json").string();
    const tool::ProcessResult run = tool::run_process(
        {"env", "FOVEA_PROFILE=" + trace, std::filesystem::read_symlink("/proc/self/exe").string(),
         "--test-case=a training on a GPU starts with its parameters*"});
    CAPTURE(run.output);
    REQUIRE(run.status == 0);
    const auto calls_of = [&](const std::string& kernel) {
        const std::size_t at = run.output.find(" " + kernel + " ");
        return at == run.output.npos ? 0 : std::stoi(run.output.substr(at + kernel.size() + 2));
    };
    for (const char* kernel : {"adam_step", "gradient_squares", "decoder_dense"})
        CHECK_MESSAGE(calls_of(kernel) == 1, kernel);
    for (const char* kernel : {"set_gradient_sum", "add_to_gradient_sum", "sgd_step"})
        CHECK_MESSAGE(calls_of(kernel) == 0, kernel);
    // The update stands last, in the trace as well.
    const std::string text = test::read_text(trace);
    const std::size_t update = text.find(R"("name":"adam_step")");
    REQUIRE(update != text.npos);
    CHECK(update > text.rfind(R"("name":"decoder_dense")"));
    CHECK(update > text.rfind(R"("name":"gradient_squares")"));
    CHECK(update < text.find("(after the last kernel)"));
}

TEST_CASE("a step whose loss is not finite changes nothing on a device") {
    if (!test::has_ptx()) return;
    const TrainedModels& models = transformer();
    const runtime::Model model = models.on(std::make_shared<tool::InterpreterDevice>());
    Training device(model, {});
    device.run(0, {.learning_rate = 0.005});
    device.parameters.values(0)[0] = std::numeric_limits<float>::infinity();
    const std::vector<float> before(device.parameters.flat().begin(),
                                    device.parameters.flat().end());
    device.step.instance().parameters_changed();
    for (float& value : device.parameters.values(0)) value = before[0];
    device.run(1, {.learning_rate = 0.005});
    CHECK_FALSE(device.outcome.moved);
    CHECK(device.optimizer.step() == 1);
    CHECK(largest_difference(device.parameters.flat().subspan(device.parameters.offset(1)),
                             std::span(before).subspan(device.parameters.offset(1))) == 0);
}

TEST_CASE("the optimizer's kernels and the runtime number their buffers alike") {
    using namespace runtime::device;
    CHECK(int(lower::Factor::count) == int(UpdateFactor::count));
    CHECK(int(lower::Factor::momentum) == int(UpdateFactor::momentum));
    CHECK(int(lower::Factor::keep) == int(UpdateFactor::keep));
    CHECK(int(lower::Factor::step_size) == int(UpdateFactor::step_size));
    CHECK(int(lower::Outcome::count) == int(UpdateOutcome::count));
    CHECK(int(lower::Outcome::moves) == int(UpdateOutcome::moves));
    CHECK(int(lower::Outcome::scale) == int(UpdateOutcome::scale));
    CHECK(lower::kChunk == Placement::kChunk);
    CHECK(std::string(lower::kChunks) == kUpdateDims[0]);
    CHECK(std::string(lower::kLosses) == kUpdateDims[1]);
}
