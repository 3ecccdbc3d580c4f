#include "tools/fovea/device/bench_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "codegen/base/error.h"
#include "runtime/device/on_device.h"
#include "runtime/options.h"
#include "runtime/runner/bench_model.h"
#include "runtime/training_step.h"
#include "tools/bundle/launch_clock.h"
#include "tools/fovea/bench/backward_steps.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/bench/stopwatch.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/gpu_graphs.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

namespace device = runtime::device;

nlohmann::ordered_json work_json(const Work& work) {
    return {{"suite", work.suite}, {"name", work.name}, {"pass", work.pass},
            {"dtype", work.dtype}, {"dims", work.dims}, {"flops", work.flops}};
}

constexpr std::int64_t kMostRuns = 1'000'000;

/// Says what is measured next, and measures when told to: a number of runs a line, whose
/// milliseconds are answered as one JSON list; a blank line, or the end, is the end of this work.
void take_turns(const Work& work, const std::function<double()>& sample) {
    std::cout << work_json(work).dump() << '\n' << std::flush;
    for (std::string line; std::getline(std::cin, line) && !line.empty();) {
        std::vector<double> times;
        const auto runs = runtime::parse_integer(line);
        if (!runs || *runs < 1 || *runs > kMostRuns)
            throw UserError(
                fmt::format("--turns takes lines with a number of runs from 1 to {}, "
                            "not '{}'",
                            kMostRuns, line));
        for (std::int64_t i = 0; i < *runs; ++i) times.push_back(sample());
        std::cout << nlohmann::json(times).dump() << '\n' << std::flush;
    }
}

class GpuSuites {
  public:
    GpuSuites(const Target& target, GpuBenchOptions options)
        : target_(target),
          name_(open_target(target).device->name()),
          quick_(options.quick),
          in_turns_(options.in_turns),
          description_(std::move(options.target)) {}

    void contraction() {
        struct Sizes {
            std::int64_t rows, k, columns;
        };
        std::vector<Sizes> all = {
            {1024, 1024, 1024}, {4096, 512, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}};
        if (quick_) all = {{32, 32, 32}};
        for (const bool tf32 : {false, true})
            for (const auto& [rows, k, columns] : all) {
                Program program = compiled({.name = "product",
                                            .graph = product_graph(k, columns, tf32),
                                            .dtype = tf32 ? f32 : bf16,
                                            .tf32 = tf32});
                run(program, {.suite = "contraction",
                              .name = fmt::format("{}x{}x{}", rows, k, columns),
                              .pass = "forward",
                              .dims = {{"rows", rows}},
                              .flops = 2 * double(rows) * double(k) * double(columns),
                              .dtype = tf32 ? "tf32" : "bf16"});
            }
    }

    void attention() {
        std::vector<std::int64_t> lengths = {512, 1024, 2048, 4096, 8192, 16384};
        if (quick_) lengths = {24};
        for (std::int64_t width : {64, 128})
            for (bool is_causal : {false, true}) attend(width, is_causal, lengths);
    }

    void training() {
        SettingValues settings = {{"dtype", "bf16"}};
        if (quick_)
            for (const char* name :
                 {"d_model=16", "d_inner=16", "layers=1", "heads=2", "d_k=16", "d_v=16"}) {
                const std::string text = name;
                const std::size_t at = text.find('=');
                settings.emplace_back(text.substr(0, at), text.substr(at + 1));
            }
        const LoadedModel loaded = load_model("attention_is_all_you_need", settings);
        ProgramRequest request = translator_programs(loaded, {})[0];
        request.dtype = bf16;
        Program program = compiled(std::move(request), true);
        const std::int64_t length = quick_ ? 5 : 64, vocabulary = quick_ ? 13 : 32000;
        const SampleDims dims = {{"batch", quick_ ? 2 : 64},
                                 {"src_len", length},
                                 {"tgt_len", length},
                                 {"src_vocab", vocabulary},
                                 {"tgt_vocab", vocabulary}};
        runtime::Parameters parameters(program.model, {dims.begin(), dims.end()});
        parameters.initialize(1);
        runtime::Optimizer optimizer(parameters.trained_size());
        runtime::TrainingStep step(program.model, parameters, optimizer);
        step.instance().bind({dims.begin(), dims.end()});
        runtime::fill_random(step.instance(), 1);
        add({.suite = "models",
             .name = "training step, base",
             .pass = "step",
             .dims = dims,
             .flops = product_flops(program.compiled.programs[0].graph, true, dims),
             .dtype = "bf16"},
            [&, device = program.device] {
                return device->milliseconds_of(
                    [&] { step.run(1, optimizer.step(), {.learning_rate = 0.0001, .clip = 1}); });
            });
    }

    GpuBench take() { return {name_, std::move(rows_)}; }

  private:
    struct Program {
        CompiledModel compiled;
        std::shared_ptr<device::Device> device;
        runtime::Model model;
    };

    /// With `as_whole`, launches are not measured one by one, and a graph of them can be recorded.
    Program compiled(ProgramRequest request, bool as_whole = false) {
        // Programs have kernels of one name: each has a device, and with it modules, of its own.
        const OpenTarget open = open_target(target_);
        clock_ = std::make_shared<bundle::LaunchClock>(open.device);
        const std::shared_ptr<device::Device> device = as_whole ? open.device : clock_;
        Program program{compile_model("bench_gpu", "tools/fovea/device", {}, {std::move(request)},
                                      description_),
                        device,
                        {}};
        auto code = std::make_shared<const device::Code>(
            compile_for_devices(program.compiled.plan, {open.architecture}));
        program.model = device::on_device(description_of(program.compiled.plan), device, code);
        return program;
    }

    void attend(std::int64_t width, bool is_causal, const std::vector<std::int64_t>& lengths) {
        const std::int64_t heads = quick_ ? 2 : 2048 / width;
        const Graph graph = attention_graph(
            heads, width, is_causal ? AttentionMask::causal : AttentionMask::none, bf16);
        for (bool backward : {false, true}) {
            Program program = compiled(
                {.name = "attention",
                 .graph = graph,
                 .gradients = backward ? Gradients::of_parameters_and_inputs : Gradients::none,
                 .fusion = Fusion(true, AttentionForm::fused),
                 .dtype = bf16});
            for (std::int64_t length : lengths) {
                const std::int64_t batch = std::max<std::int64_t>(1, 16384 / length);
                const double n = double(length);
                const double pairs = is_causal ? n * (n + 1) / 2 : n * n;
                run(program,
                    {.suite = "attention",
                     .name = fmt::format("width {}, {}", width, is_causal ? "causal" : "full"),
                     .pass = backward ? "backward" : "forward",
                     .dims = {{"batch", quick_ ? 1 : batch}, {"queries", length}, {"keys", length}},
                     .flops =
                         (backward ? 10 : 4) * double((quick_ ? 1 : batch) * heads * width) * pairs,
                     .dtype = "bf16"});
            }
        }
    }

    void run(Program& program, const Work& work) {
        runtime::Parameters parameters(program.model, {});
        runtime::Instance instance(program.model, program.model.programs[0].name, parameters);
        instance.bind({work.dims.begin(), work.dims.end()});
        runtime::fill_random(instance, 1);
        std::set<std::string> counted;
        if (work.pass == "backward") {
            const CompiledProgram& own = program.compiled.programs[0];
            const std::vector<bool> chosen = backward_steps(program.compiled.plan, own);
            for (std::size_t i = 0; i < chosen.size(); ++i)
                if (chosen[i])
                    counted.insert(
                        program.compiled.plan.kernels[std::size_t(own.plan.steps[i].kernel)].name);
        }
        clock_->count(std::move(counted));
        add(work, [&] {
            clock_->start();
            instance.run();
            clock_->leave_out_copies(true);  // what the first run brought stays there
            return clock_->milliseconds();
        });
        clock_->leave_out_copies(false);
        clock_->count({});
    }

    /// `sample` runs once and gives its milliseconds.
    void add(const Work& work, const std::function<double()>& sample) {
        if (in_turns_) return take_turns(work, sample);
        const Effort effort = quick_ ? Effort{2, 2, 0} : Effort{10, 50, 0.5};
        BenchRow row;
        row.work = work;
        row.ms = repeat(effort, sample);
        rows_.push_back(std::move(row));
    }

    const Target& target_;
    std::string name_;
    std::shared_ptr<bundle::LaunchClock> clock_;  // of the last program
    bool quick_, in_turns_;
    target::Target description_;
    std::vector<BenchRow> rows_;
};

std::string short_dims_text(const Work& work) {
    std::string text;
    for (const auto& [name, size] : work.dims)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
    return text;
}

}  // namespace

std::string GpuBench::table() const {
    std::string text = fmt::format("{}, by its own clock\n{:<28} {:<6} {:<9} {:>10} {:>9}  {}\n",
                                   device, "", "dtype", "pass", "ms", "TFLOP/s", "dims");
    for (const BenchRow& row : rows)
        text += fmt::format("{:<28} {:<6} {:<9} {:>10.3f} {:>9.1f}  {}\n", row.work.name,
                            row.work.dtype, row.work.pass, row.ms.median, row.gflops() / 1000,
                            short_dims_text(row.work));
    return text;
}

std::string GpuBench::json() const {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (const BenchRow& row : rows) {
        nlohmann::ordered_json result = work_json(row.work);
        result["ms"] = {{"median", row.ms.median}, {"p10", row.ms.p10}, {"p90", row.ms.p90}};
        result["gflops"] = row.gflops();
        results.push_back(std::move(result));
    }
    const nlohmann::ordered_json report = {{"machine", {{"gpu", device}}}, {"results", results}};
    return report.dump(1) + "\n";
}

GpuBench bench_gpu(const Target& target, const std::string& suite, GpuBenchOptions options) {
    GpuSuites suites(target, std::move(options));
    if (suite.empty() || suite == "contraction") suites.contraction();
    if (suite.empty() || suite == "attention") suites.attention();
    if (suite.empty() || suite == "models") suites.training();
    return suites.take();
}

}  // namespace fovea::tool
