// `fovea run`: a model on tensors from a file.
#include <fmt/format.h>

#include <optional>

#include "codegen/base/error.h"
#include "runtime/checkpoint/read_checkpoint.h"
#include "runtime/files/fit_names.h"
#include "runtime/files/read_weights.h"
#include "runtime/runner/run_model.h"
#include "runtime/safetensors.h"
#include "runtime/threads.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/device_code.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/files/checkpoint.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/progress.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/verify/run_reference.h"

namespace fovea::tool {

namespace {

using runtime::SafetensorsFile;

po::options_description run_options() {
    po::options_description options("Options");
    auto add = options.add_options();
    auto file = [] { return po::value<std::string>()->value_name("F"); };
    auto number = [] { return po::value<std::string>()->value_name("N"); };
    add("inputs", file(), "safetensors with the inputs, by name (required)");
    add("outputs", file(), "safetensors to write the outputs to (required)");
    add("weights", file(),
        "safetensors with the parameters, by PyTorch's names, or the folder of a checkpoint; that "
        "of --checkpoint where there is one");
    add("gradients",
        "also <name>.grad of every parameter and float input: of the sum of `loss`, or "
        "from the cotangents <output>.grad among the inputs");
    add("train", "training mode: dropout is on");
    add("seed", number(), "of dropout; 1 by default");
    add("step", number(), "of dropout; 0 by default");
    add("only", po::value<std::string>()->value_name("NAME,…"), "write these outputs only");
    add_target_options(options);
    add_fusion_option(options);
    add("threads", number(), "one per core by default");
    add_schedule_option(options);
    add_settings_option(options);
    return options;
}

runtime::RunRequest request_of(const Arguments& given) {
    runtime::RunRequest request;
    request.gradients = given.has("gradients");
    request.train = given.has("train");
    request.seed = std::uint64_t(given.whole("seed", kCounts, 1));
    request.step = std::uint64_t(given.whole("step", kCounts, 0));
    request.only = given.list("only");
    return request;
}

void run_kernels(const Target& target, const LoadedModel& model, const runtime::RunRequest& request,
                 Fusion fusion, const SafetensorsFile& inputs, const SafetensorsFile* weights,
                 const std::string& output) {
    bool training = request.train && depends_on_mode(model.graph);
    CompiledModel compiled = compile(
        model, {runner_program(model, request.gradients, training, fusion)}, kernels_of(target));
    runtime::verify_run(description_of(compiled.plan), request, inputs, weights);
    const auto ready = model_on(target, compiled.plan, model.dtype);
    Progress progress(fmt::format("running {}", model.entry.name));
    runtime::run_model(*ready, request, inputs, weights, output);
}

std::vector<runtime::ParameterNames> names_of_parameters(const Graph& graph) {
    std::vector<runtime::ParameterNames> all;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        all.push_back({graph.path(node.scope)});
        for (const ParameterAlias& alias : graph.aliases)
            if (alias.parameter == node.scope) all.back().push_back(graph.path(alias.name));
    }
    return all;
}

/// `weights` may be a folder, whose `config.json` is compared with the model's settings.
SafetensorsFile read_weights(const LoadedModel& model, const std::string& weights) {
    plan::Model described;
    described.name = model.entry.name;
    described.settings = model.settings;
    described.config_fields = config_fields(model.entry.checkpoint);
    return runtime::read_checkpoint(description_of(described), weights);
}

int run_on_file(const Arguments& given) {
    const Target target = target_of(given);
    const runtime::RunRequest request = request_of(given);
    const Fusion fusion = fusion_of(given);
    const std::string& output = given.text("outputs");
    given.verify_writable({"outputs"});
    const std::int64_t threads = given.whole("threads", kThreads, 0);
    if (threads) runtime::set_threads(threads);
    const SafetensorsFile inputs = runtime::read_safetensors(given.text("inputs"));
    std::optional<SafetensorsFile> weights;
    LoadedModel model = load_model(given, given.model(), unset_dtype(target));
    model.targets = targets_of(given);
    // Of settings beside --checkpoint the user says that they are others.
    if (given.has("weights")) weights = read_weights(model, given.text("weights"));
    else if (given.has(kCheckpointOption))
        weights = runtime::read_weights(given.text(kCheckpointOption));
    if (request.gradients && !has_gradient(model.graph))
        throw UserError(fmt::format("{} has no output with a gradient, or nothing to take it by",
                                    model.entry.name));
    if (weights) runtime::fit_names(*weights, names_of_parameters(model.graph));
    const SafetensorsFile* parameters = weights ? &*weights : nullptr;
    if (target.name == "reference")
        run_reference(model, request, fusion, inputs, parameters, output);
    else run_kernels(target, model, request, fusion, inputs, parameters, output);
    return 0;
}

}  // namespace

Command run_command() {
    return {
        {"run",
         "run a model on tensors from a file",
         "MODEL",
         "Runs a model on tensors from a file. Dims are bound from their shapes.",
         {{"the outputs for the inputs of a file",
           "fovea run masked_softmax --inputs inputs.safetensors --outputs outputs.safetensors"},
          {"by the reference in float64",
           "fovea run masked_softmax --target reference --inputs inputs.safetensors --outputs "
           "outputs.safetensors"}}},
        run_options(),
        run_on_file};
}

}  // namespace fovea::tool
