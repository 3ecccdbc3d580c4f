#include "tools/fovea/bundle/expected_values.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "codegen/base/error.h"
#include "codegen/base/number_format.h"
#include "codegen/reference/interpreter.h"
#include "runtime/parameters.h"
#include "runtime/training/gradients.h"
#include "runtime/training/optimizer.h"
#include "tools/fovea/bundle/case_tensors.h"
#include "tools/fovea/device/device_code.h"

namespace fovea::tool {

namespace {

/// By tensor, the last step that writes it.
std::map<int, int> last_writers(const plan::Model& model, const plan::Program& program) {
    std::map<int, int> writers;
    for (int i = 0; i < int(program.steps.size()); ++i) {
        const plan::Step& step = program.steps[std::size_t(i)];
        const kernel::Kernel& kernel = model.kernels[std::size_t(step.kernel)];
        for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
            if (kernel.buffers[b].written) writers[step.arguments[b]] = i;
    }
    return writers;
}

runtime::OptimizerSettings optimizer_settings(const std::string& name) {
    using runtime::OptimizerKind;
    // With a small epsilon Adam moves parameters that have no gradient by the rounding of zero.
    if (name == "adam") return {.epsilon = 1e-4};
    if (name == "adamw")
        return {.kind = OptimizerKind::adamw, .epsilon = 1e-4, .weight_decay = 0.01};
    if (name == "sgd") return {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.001};
    throw InternalError("there is no optimizer " + name);
}

fovea::Array array_of_floats(std::span<const float> values, std::vector<std::int64_t> shape) {
    return {std::move(shape), std::vector<double>(values.begin(), values.end())};
}

/// The values, rounded to what is far finer than the bound: their last bits are noise, which takes
/// room in a file.
void drop_noise(fovea::Array& array, double floor, double bound) {
    constexpr double kMasked = 1e5, kFiner = 16;
    double scale = floor;
    for (double value : array.values)
        if (std::abs(value) < kMasked) scale = std::max(scale, std::abs(value));
    const double grid = std::exp2(std::floor(std::log2(scale * bound / kFiner)));
    for (double& value : array.values)
        if (std::abs(value) < kMasked) value = std::nearbyint(value / grid) * grid;
}

}  // namespace

void round_inputs(const plan::Program& program, const std::vector<std::int64_t>& lengths,
                  Values& values) {
    for (const plan::Tensor& tensor : program.tensors) {
        if (tensor.role != plan::Role::input) continue;
        std::vector<double>& own = values.at(tensor.name).values;
        if (is_half(tensor.dtype))
            for (double& value : own) value = format_of(tensor.dtype).nearest(value);
        if (plan::holds_lengths(tensor) && !lengths.empty())
            for (std::size_t i = 0; i < own.size(); ++i)
                own[i] = double(lengths[i % lengths.size()]);
    }
}

std::vector<ExpectedTensor> expected_tensors(const plan::Model& plan,
                                             const CompiledProgram& compiled, const Sample& sample,
                                             const Values& values, InterpreterOptions options,
                                             Tolerances bounds) {
    options.tf32 = compiled.tf32;
    Interpreter reference(compiled.optimized, options);
    round_as_kernels(reference, compiled);
    set_all(reference, sample.dims, values);
    const double gradients = std::max(largest_gradient(compiled.optimized, reference) / 10, 1e-3);
    std::vector<ExpectedTensor> expected;
    for (const auto& [tensor, step] : last_writers(plan, compiled.plan)) {
        const int id = compiled.plan.tensors[std::size_t(tensor)].node;
        if (id < 0) continue;
        const Node& node = compiled.optimized[id];
        const bool is_gradient = node.backward || node.port.gradient;
        expected.push_back({step, tensor, is_gradient ? gradients : 1e-3,
                            is_gradient ? bounds.gradients : bounds.values, reference.value(id)});
        drop_noise(expected.back().values, expected.back().floor, expected.back().bound);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    return expected;
}

TrainingRun run_training(const CompiledModel& model, const Sample& sample,
                         const std::string& optimizer_name, int steps, std::uint64_t seed) {
    const CompiledProgram& compiled = model.programs.at(0);
    const runtime::Model description = description_of(model.plan);
    runtime::Parameters parameters(description, {sample.dims.begin(), sample.dims.end()});
    parameters.initialize(3);
    const runtime::OptimizerSettings settings = optimizer_settings(optimizer_name);
    runtime::Optimizer optimizer(parameters.trained_size(), settings);
    const double rate = 0.005, clip = 1, scale = 0.5;
    TrainingRun run;
    run.inputs = draw_values(compiled.plan, sample);
    round_inputs(compiled.plan, {}, run.inputs);
    for (std::size_t i = 0; i < parameters.count(); ++i)
        run.inputs.erase(description.parameters[i].name);
    const auto read = [&](Values& into) {
        for (std::size_t i = 0; i < parameters.count(); ++i)
            into[description.parameters[i].name] =
                array_of_floats(parameters.values(i), parameters.shape(i));
    };
    read(run.before);
    for (int step = 0; step < steps; ++step) {
        Interpreter reference(
            compiled.optimized,
            {.training = true, .seed = seed, .step = std::uint64_t(step), .tf32 = compiled.tf32});
        round_as_kernels(reference, compiled);
        Values values = run.inputs;
        read(values);
        set_all(reference, sample.dims, values);
        double loss = 0;
        for (double part : reference.output("loss").values) loss += part;
        std::vector<float> gradients(parameters.trained_size());
        for (std::size_t i = 0; i < parameters.count(); ++i) {
            if (description.parameters[i].frozen) continue;
            const auto& own = reference.output(description.parameters[i].name + ".grad").values;
            std::copy(own.begin(), own.end(),
                      gradients.begin() + std::ptrdiff_t(parameters.offset(i)));
        }
        runtime::NormOfParts norm(gradients.size());
        norm.add_part(gradients, {});
        run.losses.push_back(loss);
        run.norms.push_back(norm.norm() * scale);
        optimizer.update_part(parameters.trained(), gradients, rate,
                              scale * runtime::clip_scale(run.norms.back(), clip), {});
        optimizer.advance();
    }
    read(run.after);
    run.optimizer = runtime::Json::Object{{"kind", runtime::name_of(settings.kind)},
                                          {"epsilon", settings.epsilon},
                                          {"momentum", settings.momentum},
                                          {"weight_decay", settings.weight_decay}};
    run.rule =
        runtime::Json::Object{{"learning_rate", rate}, {"clip", clip}, {"gradient_scale", scale}};
    return run;
}

}  // namespace fovea::tool
