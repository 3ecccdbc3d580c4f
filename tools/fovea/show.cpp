// `fovea show`: a model at any stage of its way to C++ and PTX.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "codegen/base/error.h"
#include "codegen/emit/emitter.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/graph/print.h"
#include "codegen/graph/print_changes.h"
#include "codegen/graph/print_dot.h"
#include "codegen/graph/print_json.h"
#include "codegen/kernel/print.h"
#include "runtime/files/files.h"
#include "tools/fovea/adapt/lora_option.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/chart/graph_picture.h"
#include "tools/fovea/commands.h"
#include "tools/fovea/device/ptx_resources.h"
#include "tools/fovea/plan_table.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/schedule/schedule_option.h"
#include "tools/fovea/schedule/schedule_text.h"

namespace fovea::tool {

namespace {

const std::vector<std::string> kStages = {"graph",   "grouped", "gradient", "optimized", "fused",
                                          "kernels", "plan",    "schedule", "cpp",       "ptx"};

bool is_graph_stage(const std::string& stage) {
    return stage == "graph" || stage == "grouped" || stage == "gradient" || stage == "optimized";
}

/// The program to show. Where none was asked for: the gradient from the stage `gradient` on, for
/// models with parameters that have one.
ProgramRequest choose_program(const LoadedModel& model, const std::string& stage, std::string name,
                              Fusion fusion) {
    bool parameters = std::any_of(model.graph.nodes.begin(), model.graph.nodes.end(),
                                  [](const Node& node) { return node.op == Op::parameter; });
    bool forward = stage == "graph" || stage == "grouped" || !parameters || model.weights;
    if (name.empty()) name = forward || !has_gradient(model.graph) ? "forward" : "gradient";
    std::vector<std::string> names;
    for (ProgramRequest& program : all_programs(model, fusion)) {
        if (program.name == name) return std::move(program);
        names.push_back(program.name);
    }
    if (name == "prefill" || name == "decode_step")
        if (const auto why = why_not_decoded(model))
            throw UserError(
                fmt::format("{} has no program '{}': {}", model.entry.name, name, *why));
    const std::string nearest = did_you_mean(name, names);
    throw UserError(fmt::format("{} has no program '{}'{} programs: {}", model.entry.name, name,
                                nearest.empty() ? ";" : nearest, comma_list(names)));
}

/// `group_of`: the kernels of the nodes, where they have some.
std::string graph_text(const Graph& graph, const Arguments& given, const std::string& title,
                       const std::vector<int>& group_of = {}) {
    const std::string format = given.text_or("format", "text");
    if (format == "dot") return print_dot(graph);
    if (format == "svg")
        return graph_picture(
            graph, title, group_of,
            given.text_or("layers", "once") == "all" ? RepeatedLayers::all : RepeatedLayers::once);
    if (format == "json") return print_json(graph);
    return print(graph);
}

std::string kernels_text(const plan::Model& model) {
    std::string text;
    for (const kernel::Kernel& kernel : model.kernels) {
        for (const std::string& source : kernel.sources) text += "# " + source + "\n";
        text += kernel::print(kernel) + "\n";
    }
    return text;
}

/// The form of each attention, and the one that a build with these sizes static takes.
std::string attention_text(const std::vector<AttentionChoice>& choices, const SampleDims& dims,
                           const target::AttentionChoices& target) {
    std::string text;
    for (const AttentionChoice& choice : choices) {
        const fuse::AttentionWork work =
            choice.work_at([&](const Dim& dim) { return value_of(dim, dims); });
        const fuse::AttentionEstimate estimate = fuse::estimate_attention(work, target);
        text += fmt::format("attention   {}: {}; {}: with static sizes {}\n", choice.place,
                            choice.fused ? "one kernel" : "plain ops", text_of(work, estimate),
                            estimate.prefers_plain ? "plain ops" : "one kernel");
    }
    return text;
}

std::string cpp_text(const plan::Model& model) {
    for (const emit::File& file : emit::make_cpp_emitter()->emit_model(model))
        if (file.name.ends_with(".cpp")) return file.text;
    throw InternalError("the C++ emitter gave no .cpp file");
}

/// The table of what the kernels take stands above them.
std::string ptx_text(const plan::Model& model, const std::string& architecture) {
    const emit::PtxModule module =
        emit::emit_ptx(model.kernels, target::gpu_of(model.target, architecture));
    return resource_table(module) + module.text;
}

std::string stage_text(const ProgramRequest& request, const CompiledModel& compiled,
                       const std::string& stage, const Arguments& given) {
    const CompiledProgram& program = compiled.programs.front();
    const std::string title =
        fmt::format("{}, program {}: {}", compiled.plan.name, request.name, stage);
    if (stage == "graph") return graph_text(request.graph, given, title);
    if (stage == "grouped") return graph_text(program.grouped, given, title);
    if (stage == "gradient") return graph_text(program.gradient, given, title);
    if (stage == "optimized")
        return graph_text(program.optimized, given, title, program.fused.group_of);
    if (stage == "fused") return fusion_text(program);
    if (stage == "kernels") return kernels_text(compiled.plan);
    if (stage == "plan") {
        const SampleDims dims = sample_dims(compiled.plan, given.sizes());
        return plan_table(compiled.plan, program.plan, dims) +
               attention_text(program.attentions, dims, compiled.plan.target.lowering.attention);
    }
    if (stage == "schedule") return schedule_text(compiled.plan, given.text_or("arch", ""));
    if (stage == "ptx") return ptx_text(compiled.plan, given.text_or("arch", "sm_90"));
    return cpp_text(compiled.plan);
}

/// What each run of a pass changed. The last three make something else of the graph, which is all
/// new: its groups, kernels or steps.
std::string changes_text(
    const ProgramRequest& request, const target::Target& target, const std::string& name,
    const std::function<std::string(const std::string& stage)>& text_of_stage) {
    std::string text;
    std::vector<std::string> names;
    watch_passes(
        request, target, [&](const PassRecord& pass, const Graph& before, const Graph& after) {
            if (std::find(names.begin(), names.end(), pass.name) == names.end())
                names.push_back(pass.name);
            if (pass.name == name)
                text += fmt::format("{}: {}\n{}", name, pass.reason, print_changes(before, after));
        });
    if (!text.empty()) return text;
    const std::vector<std::pair<std::string, std::string>> later = {
        {"fuse", "fused"}, {"lower", "kernels"}, {"plan", "plan"}};
    for (const auto& [pass, stage] : later) {
        names.push_back(pass);
        if (pass != name) continue;
        text = fmt::format("{}: all of --stage {}\n+ ", name, stage);
        for (char c : text_of_stage(stage)) text += c == '\n' ? "\n+ " : std::string(1, c);
        text.resize(text.size() - 2);
        return text;
    }
    const std::string nearest = did_you_mean(name, names);
    throw UserError(fmt::format("--diff: there is no pass '{}'{} passes: {}", name,
                                nearest.empty() ? ":" : nearest, comma_list(names)));
}

void check_format(const std::string& stage, const std::string& format) {
    if (stage == "ptx")
        if (const auto reason = emit::why_not_ptx()) throw UserError(*reason);
    if (format != "text" && !is_graph_stage(stage))
        throw UserError(
            fmt::format("--format {} is for the stages graph, grouped, gradient and "
                        "optimized; {} is text",
                        format, stage));
}

int show_model(const Arguments& given) {
    // The program that --diff is about is the one of the last stage, with gradients.
    const std::string stage = given.has("diff") ? "plan" : given.choice("stage", kStages);
    const std::string format = given.choice("format", {"text", "dot", "svg", "json"});
    check_format(stage, format);
    given.choice("layers", {"once", "all"});
    if (given.has("layers") && format != "svg")
        throw UserError("--layers is for --format svg: the other formats have every layer");
    const Fusion fusion = fusion_of(given);
    const bool on_gpu = stage == "ptx" || (stage == "schedule" && given.has("arch"));
    LoadedModel model = load_model(given, given.model(), on_gpu ? bf16 : f32);
    take_lora(given, model);
    model.targets = targets_of(given);
    ProgramRequest request = choose_program(model, stage, given.text_or("program", ""), fusion);
    CompiledModel compiled;
    const Kernels kernels = on_gpu ? Kernels::of_gpu : Kernels::of_cpu;
    if (stage != "graph" || given.has("passes") || given.has("diff"))
        compiled = compile(model, {request}, kernels);
    else compiled.programs.emplace_back(), compiled.plan.name = model.entry.name;
    std::string text;
    if (given.has("passes")) text = print(compiled.programs.front().passes);
    else if (given.has("diff"))
        text = changes_text(
            request, compiled.plan.target, given.text("diff"),
            [&](const std::string& of) { return stage_text(request, compiled, of, given); });
    else text = stage_text(request, compiled, stage, given);
    if (given.has("output")) runtime::write_file_atomically(given.text("output"), text);
    else fmt::print("{}", text);
    return 0;
}

}  // namespace

Command show_command() {
    po::options_description options("Options");
    auto add = options.add_options();
    add("stage", po::value<std::string>()->value_name(fmt::format("{}", fmt::join(kStages, "|"))),
        "graph by default");
    add("format", po::value<std::string>()->value_name("text|dot|svg|json"), "text by default");
    add("layers", po::value<std::string>()->value_name("once|all"),
        "of a picture: layers that compute the same are drawn once, with their count, by default");
    add("output,o", po::value<std::string>()->value_name("FILE"), "write there");
    add("program", po::value<std::string>()->value_name("NAME"), "forward, gradient, …");
    add_fusion_option(options);
    add_size_option(options, "sizes of dims for --stage plan");
    add("arch", po::value<std::string>()->value_name("sm_80|sm_90|sm_90a"),
        "for --stage ptx, sm_90 by default; with --stage schedule: what is chosen for this GPU, "
        "not for CPUs");
    add("passes", "print what each pass did, and its time, instead");
    add("diff", po::value<std::string>()->value_name("PASS"),
        "print what a pass of --passes changed in the graph, instead");
    add_schedule_option(options);
    add_settings_option(options);
    add_lora_options(options);
    return {
        {"show",
         "print a model at any stage of its way to C++",
         "MODEL",
         "Prints a model at any stage of its way to C++ and PTX.",
         {{"what is fused, and why the rest is not", "fovea show add_norm --stage fused"},
          {"the C++ that is written of a function of yours",
           "fovea show my_model.cpp:my_model --stage cpp"},
          {"a picture of the graph", "fovea show encoder_block --format svg -o encoder_block.svg"},
          {"with the gradient beside it, and each layer of its own",
           "fovea show bert --stage gradient --format svg --layers all -o bert.svg"}}},
        options,
        show_model};
}

}  // namespace fovea::tool
