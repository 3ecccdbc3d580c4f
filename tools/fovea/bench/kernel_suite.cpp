#include "tools/fovea/bench/kernel_suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "runtime/instance.h"
#include "runtime/runner/bench_model.h"
#include "tools/fovea/bench/backward_steps.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"

namespace fovea::tool {

namespace {

std::string gradient_name(const std::string& program) { return program + "_gradient"; }

/// As `fill_random`, but for the inputs that the case gives.
void fill(runtime::Instance& instance, const KernelCase& kernel_case) {
    runtime::fill_random(instance, 1);
    for (const auto& [name, values] : kernel_case.given)
        std::copy(values.begin(), values.end(), instance.input<std::int32_t>(name));
}

}  // namespace

void KernelSuite::add_program(const std::string& name, const Graph& graph, bool gradient) {
    for (const ProgramRequest& request : requests_)
        if (request.name == name) return;
    requests_.push_back({.name = name, .graph = graph});
    if (gradient)
        requests_.push_back({.name = gradient_name(name),
                             .graph = graph,
                             .gradients = Gradients::of_parameters_and_inputs});
}

BenchRow KernelSuite::measure(Bench& bench, const KernelCase& kernel_case) const {
    const bool backward = kernel_case.work.pass == "backward";
    const std::string name = backward ? gradient_name(kernel_case.program) : kernel_case.program;
    const auto program =
        std::find_if(compiled_.programs.begin(), compiled_.programs.end(),
                     [&](const CompiledProgram& candidate) { return candidate.name == name; });
    if (program == compiled_.programs.end())
        throw InternalError(fmt::format("bench: suite {} has no program '{}'", name_, name));
    Work work = kernel_case.work;
    work.suite = name_;
    if (work.flops == 0)
        work.flops = kernel_case.share * row_flops(program->optimized, backward, work.dims);
    runtime::Parameters parameters(*generated_, work.dims);
    runtime::Instance instance(*generated_, name, parameters);
    instance.bind(work.dims);
    fill(instance, kernel_case);
    if (!backward)
        return bench.measure(work, [&] { return milliseconds_of([&] { instance.run(); }); });
    work.method = "observed kernels";
    StepTimer timer(backward_steps(compiled_.plan, *program));
    return bench.measure(work, [&] { return timer.milliseconds_of_run(instance); });
}

std::vector<BenchRow> KernelSuite::run(Bench& bench) {
    compiled_ = compile_model("bench_" + name_, "tools/fovea/bench", {}, requests_, bench.target());
    const DType dtype = plan::has_halves(compiled_.plan, bf16) ? DType::bf16 : DType::f32;
    generated_ = &load_generated(compiled_.plan, isa_of_this_machine({dtype}), Keep::nowhere,
                                 bench.optimized());
    std::vector<BenchRow> rows;
    for (const KernelCase& kernel_case : cases_) rows.push_back(measure(bench, kernel_case));
    return rows;
}

}  // namespace fovea::tool
