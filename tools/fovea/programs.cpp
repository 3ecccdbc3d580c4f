// The programs by name, as the runner and the translator look for them.
#include "tools/fovea/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/decode/derive_decoding.h"
#include "codegen/decode/derive_score.h"
#include "codegen/decode/reads_padding.h"
#include "codegen/decode/source_values.h"
#include "codegen/graph/scan_function.h"
#include "codegen/group/tap_attention.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/plan/share_prepared.h"
#include "codegen/plan/share_statistics.h"
#include "codegen/plan/write_in_place.h"
#include "tools/fovea/files/checkpoint.h"

namespace fovea::tool {

namespace {

ProgramRequest request(std::string name, const Graph& graph, bool training, Gradients gradients,
                       Fusion fusion) {
    return {.name = std::move(name),
            .graph = graph,
            .training = training,
            .gradients = gradients,
            .fusion = fusion};
}

Graph evaluation(const LoadedModel& model) {
    return model.entry.evaluation ? model.entry.evaluation(model.values) : model.graph;
}

}  // namespace

std::vector<ProgramRequest> all_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = runner_programs(model, fusion);
    const auto add = [&](std::vector<ProgramRequest> others) {
        for (ProgramRequest& program : others) requests.push_back(std::move(program));
    };
    add(extra_programs(model, fusion));
    add(model.entry.driver == Driver::translator ? translator_programs(model, fusion)
                                                 : language_programs(model, fusion));
    return requests;
}

Fusion fusion_of(const Arguments& given) {
    const std::string value = given.choice("fusion", {"on", "off", "always"});
    return {value != "off", value == "always" ? AttentionForm::fused : AttentionForm::faster};
}

void add_fusion_option(po::options_description& options) {
    options.add_options()("fusion", po::value<std::string>()->value_name("on|off|always"),
                          "on by default; always: also where plain ops are estimated to be faster");
}

bool has_gradient(const Graph& graph) {
    auto is = [&](auto&& predicate) {
        return std::any_of(graph.nodes.begin(), graph.nodes.end(), predicate);
    };
    return is([](const Node& n) { return n.op == Op::output && is_float(n.dtype); }) &&
           is([](const Node& n) {
               return n.op == Op::parameter || (n.op == Op::input && is_float(n.dtype));
           });
}

bool has_gradient(const LoadedModel& model) { return !model.weights && has_gradient(model.graph); }

bool depends_on_mode(const Graph& graph) {
    return graph.sites > 0 ||
           std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& node) { return node.op == Op::when_training; });
}

ProgramRequest runner_program(const LoadedModel& model, bool gradient, bool training,
                              Fusion fusion) {
    std::string name = gradient ? "gradient" : "forward";
    if (training) name += "_train";
    return request(name, model.graph, training,
                   gradient ? Gradients::of_parameters_and_inputs : Gradients::none, fusion);
}

std::vector<ProgramRequest> runner_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests;
    for (bool training : {false, true}) {
        if (training && !depends_on_mode(model.graph)) continue;
        requests.push_back(runner_program(model, false, training, fusion));
        if (has_gradient(model)) requests.push_back(runner_program(model, true, training, fusion));
    }
    return requests;
}

namespace {

bool has_loss(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& n) {
        return n.op == Op::output && n.name == "loss" && is_float(n.dtype);
    });
}

}  // namespace

bool is_trained(const Graph& graph) {
    return has_loss(graph) && std::ranges::any_of(graph.nodes, [](const Node& n) {
               return n.op == Op::parameter && !n.frozen;
           });
}

ProgramRequest training_step_program(const LoadedModel& model, Fusion fusion) {
    ProgramRequest step =
        request("training_step", model.graph, true, Gradients::of_parameters, fusion);
    step.only = {"loss"};
    return step;
}

std::vector<ProgramRequest> translator_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = {
        training_step_program(model, fusion),
        request("evaluate", evaluation(model), false, Gradients::none, fusion)};
    for (ProgramRequest& program : translation_programs(model, fusion))
        requests.push_back(std::move(program));
    return requests;
}

std::vector<ProgramRequest> translation_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = text_programs(model, fusion);
    if (has_attention(model.graph))
        requests.push_back(
            request("attention", tap_attention(model.graph), false, Gradients::none, fusion));
    return requests;
}

std::optional<std::string> why_not_decoded(const LoadedModel& model) {
    if (!model.entry.programs.empty())
        return model.entry.name + " has programs of its own that decode";
    return why_not_decodable(select_mode(evaluation(model), false));
}

std::vector<ProgramRequest> text_programs(const LoadedModel& model, Fusion fusion) {
    if (why_not_decoded(model)) return {};
    const Graph graph = select_mode(evaluation(model), false);
    const Decoding decoding = derive_decoding(graph, model.caches);
    std::vector<ProgramRequest> requests = {
        request("prefill", decoding.prefill, false, Gradients::none, fusion),
        request("decode_step", decoding.step, false, Gradients::none, fusion)};
    requests[0].reads_padding = reads_padding(graph);
    return requests;
}

std::vector<ProgramRequest> decoding_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = text_programs(model, fusion);
    if (requests.empty() || has_source(model.graph)) return requests;
    if (const auto score = derive_score(select_mode(model.graph, false)))
        requests.push_back(request("score", *score, false, Gradients::none, fusion));
    return requests;
}

std::vector<ProgramRequest> language_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests = decoding_programs(model, fusion);
    const bool reads_one_text = !requests.empty() && !has_source(model.graph);
    if (reads_one_text && is_trained(model.graph) && !model.weights) {
        requests.push_back(training_step_program(model, fusion));
        requests.push_back(request("evaluate", model.graph, false, Gradients::none, fusion));
        requests.back().only = {"loss"};
    }
    if (model.has_lora)
        requests.push_back(request("merge", model.merge, false, Gradients::none, fusion));
    return requests;
}

std::vector<ProgramRequest> extra_programs(const LoadedModel& model, Fusion fusion) {
    std::vector<ProgramRequest> requests;
    for (const ExtraProgram& program : model.entry.programs)
        requests.push_back(request(program.name, seal_scans(program.build(model.values)), false,
                                   Gradients::none, fusion));
    return requests;
}

CompiledModel compile(const LoadedModel& model, std::vector<ProgramRequest> requests,
                      Kernels kernels) {
    const bool on_gpu = kernels == Kernels::of_gpu;
    if (on_gpu && model.weights)
        throw UserError(
            fmt::format("weights of {} have no kernels for GPUs: build {} without the "
                        "setting `weights` for them",
                        text_of(model.weights), model.entry.name));
    for (ProgramRequest& request : requests) {
        request.dtype = model.dtype;
        request.weights = model.weights;
        request.tf32 = on_gpu && model.tf32;
    }
    CompiledModel compiled =
        compile_model(model.entry.name, model.entry.source, model.settings, std::move(requests),
                      on_gpu ? model.targets.gpu : model.targets.cpu);
    compiled.plan.config_fields = config_fields(model.entry.checkpoint);
    if (kernels == Kernels::of_cpu) {
        plan::share_statistics(compiled.plan);
        for (plan::Program& program : compiled.plan.programs)
            plan::write_in_place(program, compiled.plan.kernels);
        plan::share_prepared(compiled.plan);
        for (std::size_t i = 0; i < compiled.programs.size(); ++i)
            compiled.programs[i].plan = compiled.plan.programs[i];
    }
    return compiled;
}

std::string fusion_text(const CompiledProgram& program) {
    std::string text = fuse::print(program.optimized, program.fused);
    for (const std::string& note : program.notes) text += "not fused: " + note + "\n";
    for (const AttentionChoice& choice : program.attentions)
        if (choice.fused)
            text += "one kernel: " + choice.place + ": attention: " + choice.reason + "\n";
    return text;
}

}  // namespace fovea::tool
