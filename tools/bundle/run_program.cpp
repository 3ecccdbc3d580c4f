#include "tools/bundle/run_program.h"

#include <algorithm>
#include <optional>

#include "runtime/error.h"
#include "runtime/instance.h"
#include "runtime/training_step.h"
#include "tools/bundle/compare.h"
#include "tools/bundle/open_model.h"

namespace fovea::bundle {

using runtime::Json;

namespace {

constexpr std::size_t kRowsOfText = 6;  // tensors that miss, in the text of an outcome

/// What a step must have written to a tensor: [step, tensor, floor, bound].
struct Expected {
    std::size_t step = 0, tensor = 0;
    double floor = 0, bound = 0;
    std::string data = {};
    bool is_output = false;
};

const runtime::TensorSpec* output_at(const runtime::Model& model, const runtime::Program& program,
                                     std::size_t tensor) {
    const std::size_t first = model.parameters.size() + program.inputs.size();
    const bool is_output = tensor >= first && tensor < first + program.outputs.size();
    return is_output ? &program.outputs[tensor - first] : nullptr;
}

class Comparison {
  public:
    Comparison(const CaseFile& from, const runtime::Model& model, runtime::Instance& instance,
               Progress progress)
        : model_(model), instance_(instance), progress_(progress), from_(from) {
        for (const Json& row : from["expected"].array()) {
            const auto& parts = row.array();
            Expected expected{std::size_t(parts.at(0).integer()),
                              std::size_t(parts.at(1).integer()), parts.at(2).number(),
                              parts.at(3).number()};
            expected.data =
                "expected " + std::to_string(expected.step) + " " + std::to_string(expected.tensor);
            expected.is_output = output_at(model, instance.program(), expected.tensor);
            expected_.push_back(std::move(expected));
        }
    }

    void begin(std::size_t step) const {
        const auto& kernels = instance_.program().kernels;
        if (step < kernels.size())
            progress_("kernel " + kernels[step] + " (step " + std::to_string(step + 1) + " of " +
                      std::to_string(kernels.size()) + ")");
    }
    static void observe(void* state, int step) {
        auto& self = *static_cast<Comparison*>(state);
        self.compare_step(std::size_t(step));
        self.begin(std::size_t(step) + 1);
    }
    void compare_outputs(const std::string& when) {
        for (const Expected& expected : expected_)
            if (expected.is_output) compare(expected, when);
    }

    Outcome take(std::string architecture) {
        outcome_.architecture = std::move(architecture);
        return std::move(outcome_);
    }

  private:
    void compare_step(std::size_t step) {
        for (const Expected& expected : expected_)
            if (expected.step == step) compare(expected, "");
    }
    void compare(const Expected& expected, const std::string& when) {
        const CaseTensor right = from_.tensor(expected.data);
        const std::size_t count = right.bytes.size() / size_of(right.dtype);
        const auto b = read_values(right.bytes.data(), right.dtype, count);
        const auto a = read_values(instance_.tensor(expected.tensor), right.dtype, count);
        const double error = relative_error(a, b, expected.floor) / expected.bound;
        outcome_.worst = std::max(outcome_.worst, error);
        if (error <= 1) return;
        const std::string& kernel = instance_.program().kernels[expected.step];
        if (outcome_.status == "ok") outcome_.kernel = kernel;
        outcome_.status = "miss";
        if (++misses_ <= kRowsOfText)
            outcome_.text += (outcome_.text.empty() ? "" : "; ") + name_of(expected.tensor) +
                             " by " + kernel + when + " is " + std::to_string(error) +
                             " x its bound away";
    }
    std::string name_of(std::size_t tensor) const {
        const runtime::Program& program = instance_.program();
        if (const auto* output = output_at(model_, program, tensor)) return output->name;
        const std::size_t first =
            model_.parameters.size() + program.inputs.size() + program.outputs.size();
        return tensor >= first ? program.buffers[tensor - first].name : "an input";
    }

    const runtime::Model& model_;
    runtime::Instance& instance_;
    Progress progress_;
    const CaseFile& from_;
    std::vector<Expected> expected_;
    Outcome outcome_;
    std::size_t misses_ = 0;
};

std::uint64_t counter(const CaseFile& from, std::string_view key) {
    return std::uint64_t(from[key].integer());
}

std::string why_skipped(const runtime::device::Device& device) {
    return device.name() + " runs none of its architectures";
}

runtime::OptimizerSettings optimizer_of(const Json& json) {
    runtime::OptimizerSettings settings;
    for (auto kind :
         {runtime::OptimizerKind::adam, runtime::OptimizerKind::adamw, runtime::OptimizerKind::sgd})
        if (at(json, "kind").string() == runtime::name_of(kind)) settings.kind = kind;
    settings.epsilon = at(json, "epsilon").number();
    settings.momentum = at(json, "momentum").number();
    settings.weight_decay = at(json, "weight_decay").number();
    return settings;
}

/// What a case begins with: its model, and parameters of its sizes.
class Start {
  public:
    Start(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
          const std::string& architecture)
        : open(open_model(from, device, architecture)), dims(read_dims(from["dims"])) {
        if (!open.model) return;
        parameters.emplace(*open.model, dims);
        read_parameters(from, *parameters);
    }

    OpenModel open;
    runtime::DimValues dims;
    std::optional<runtime::Parameters> parameters;  // none where the device runs no such code
};

}  // namespace

Outcome run_program(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                    const RunOptions& options, Progress progress) {
    progress("load the kernels");
    Start start(from, device, options.architecture);
    if (!start.parameters) return {.status = "skipped", .text = why_skipped(*device)};
    runtime::Parameters& parameters = *start.parameters;
    runtime::Instance instance(*start.open.model, from.text("program"), parameters);
    instance.bind(start.dims);
    Comparison comparison(from, *start.open.model, instance, progress);
    read_inputs(from, instance);
    runtime::Call call;
    call.seed = counter(from, "seed");
    call.step = counter(from, "step");
    call.observe = Comparison::observe;
    call.observe_state = &comparison;
    comparison.begin(0);
    instance.run_call(call);
    for (int i = 0; i < options.replays; ++i) {
        progress("all kernels at once, run " + std::to_string(i + 1));
        instance.run(call.seed, call.step);
        comparison.compare_outputs(", run " + std::to_string(i + 1) + " at once,");
    }
    return comparison.take(start.open.architecture);
}

Outcome run_training(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                     const RunOptions& options, Progress progress) {
    progress("load the kernels");
    Start start(from, device, options.architecture);
    if (!start.parameters) return {.status = "skipped", .text = why_skipped(*device)};
    runtime::Parameters& parameters = *start.parameters;
    Outcome outcome{.architecture = start.open.architecture};
    const auto compare = [&](const std::string& what, std::span<const double> a,
                             std::span<const double> b, double bound) {
        const double error = relative_error(a, b, 1e-3) / bound;
        outcome.worst = std::max(outcome.worst, error);
        if (error <= 1) return;
        if (outcome.status == "ok")
            outcome.text = what + " is " + std::to_string(error) + " x its bound away";
        outcome.status = "miss";
    };
    const Json &rule = from["rule"], &bounds = from["bounds"];
    {
        runtime::Optimizer optimizer(parameters.trained_size(), optimizer_of(from["optimizer"]));
        runtime::TrainingStep step(*start.open.model, parameters, optimizer);
        step.instance().bind(start.dims);
        read_inputs(from, step.instance());
        for (std::size_t i = 0; i < from["losses"].array().size(); ++i) {
            progress("training step " + std::to_string(i + 1));
            const runtime::StepOutcome made =
                step.run(counter(from, "seed"), i,
                         {at(rule, "learning_rate").number(), at(rule, "clip").number(),
                          at(rule, "gradient_scale").number()});
            double loss = 0;
            for (float part : step.instance().output_values("loss")) loss += part;
            const std::string number = std::to_string(i + 1);
            const double right[] = {from["losses"].array()[i].number(),
                                    from["norms"].array()[i].number()};
            compare("the loss of step " + number, {&loss, 1}, {right, 1},
                    at(bounds, "loss").number());
            compare("the norm of the gradient of step " + number, {&made.gradient_norm, 1},
                    {right + 1, 1}, at(bounds, "norm").number());
        }
    }
    progress("fetch the parameters");
    for (std::size_t i = 0; i < parameters.count(); ++i) {
        const std::string& name = start.open.model->parameters[i].name;
        const std::span<const float> now = parameters.values(i);
        const CaseTensor right = from.tensor("after " + name);
        compare("parameter " + name, read_values(now.data(), runtime::DType::f32, now.size()),
                read_values(right.bytes.data(), runtime::DType::f32, now.size()),
                at(bounds, "parameters").number());
    }
    return outcome;
}

}  // namespace fovea::bundle
