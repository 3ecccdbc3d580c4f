#include "tools/fovea/report/measure_kernels.h"

#include <algorithm>
#include <chrono>

#include "runtime/instance.h"
#include "runtime/runner/bench_model.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/bench/stopwatch.h"
#include "tools/fovea/compare/count_bytes.h"

namespace fovea::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// The times of all steps of a run, in milliseconds.
class StepTimes {
  public:
    explicit StepTimes(std::size_t steps) : times_(steps) {}

    void add_run(runtime::Instance& instance) {
        runtime::Call call;
        call.observe = [](void* state, int step) { static_cast<StepTimes*>(state)->end(step); };
        call.observe_state = this;
        last_ = Clock::now();
        instance.run_call(call);
    }
    double median(std::size_t step) const { return milliseconds_of(times_[step]).median; }

  private:
    void end(int step) {
        const Clock::time_point now = Clock::now();
        times_[std::size_t(step)].push_back(
            std::chrono::duration<double, std::milli>(now - last_).count());
        last_ = Clock::now();
    }

    std::vector<std::vector<double>> times_;
    Clock::time_point last_;
};

/// The group of nodes that a step computes: that of a value which it writes.
const fuse::Group* group_of(const CompiledModel& compiled, const plan::Step& step) {
    const CompiledProgram& program = compiled.programs[0];
    const kernel::Kernel& kernel = compiled.plan.kernels[std::size_t(step.kernel)];
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        const int node = program.plan.tensors[std::size_t(step.arguments[b])].node;
        if (!kernel.buffers[b].written || node < 0) continue;
        for (const fuse::Group& group : program.fused.groups)
            for (const auto* nodes : {&group.stored, &group.sums, &group.nodes})
                if (std::find(nodes->begin(), nodes->end(), node) != nodes->end()) return &group;
    }
    return nullptr;
}

MeasuredStep counted(const CompiledModel& compiled, const plan::Step& step, const SampleDims& dims,
                     const Limits& limits) {
    const kernel::Kernel& kernel = compiled.plan.kernels[std::size_t(step.kernel)];
    MeasuredStep measured;
    measured.kernel = kernel.name;
    measured.name = step.name.empty() ? kernel.name : step.name;
    measured.group = group_of(compiled, step);
    measured.sources = kernel.sources;
    measured.phase = step.phase;
    measured.bytes = bytes_moved(kernel, dims);
    if (measured.group)
        measured.flops = kernel_flops(compiled.programs[0].optimized, *measured.group, dims);
    const double arithmetic = measured.flops / limits.gflops / 1e6;
    const double traffic = measured.bytes / limits.gb_s / 1e6;
    measured.is_bound_by_memory = traffic > arithmetic;
    measured.floor_ms = std::max(arithmetic, traffic);
    return measured;
}

}  // namespace

MeasuredProgram measure_kernels(const CompiledModel& compiled, const runtime::Model& generated,
                                const SampleDims& dims, const Limits& limits) {
    const plan::Program& plan = compiled.programs[0].plan;
    runtime::Parameters parameters(generated, dims);
    parameters.initialize(1);
    runtime::Instance instance(generated, plan.name, parameters);
    instance.bind(dims);
    runtime::fill_random(instance, 1);
    MeasuredProgram measured;
    measured.ms = repeat({.least_runs = 5, .most_runs = 200, .seconds = 0.5}, [&] {
                      return milliseconds_of([&] { instance.run(1, 0); });
                  }).median;
    StepTimes unused(plan.steps.size()), times(plan.steps.size());
    unused.add_run(instance);  // it binds to the whole batch
    repeat({.least_runs = 5, .most_runs = 200, .seconds = 0.5},
           [&] { return milliseconds_of([&] { times.add_run(instance); }); });
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        measured.steps.push_back(counted(compiled, plan.steps[i], dims, limits));
        measured.steps.back().ms = times.median(i);
    }
    return measured;
}

}  // namespace fovea::tool
