#include "codegen/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "codegen/assemble_program.h"
#include "codegen/autodiff/add_gradients.h"
#include "codegen/autodiff/recompute_checkpoints.h"
#include "codegen/autodiff/rematerialise.h"
#include "codegen/base/error.h"
#include "codegen/base/room.h"
#include "codegen/choose_shards.h"
#include "codegen/choose_weights.h"
#include "codegen/graph/expand_composites.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/group/fuse_attention.h"
#include "codegen/group/fuse_loss.h"
#include "codegen/group/raise_attention.h"
#include "codegen/group/raise_contraction.h"
#include "codegen/group/raise_softmax.h"
#include "codegen/group/split_keys.h"
#include "codegen/kernel/parameters.h"
#include "codegen/optimize/common_subexpressions.h"
#include "codegen/optimize/dead_code.h"
#include "codegen/optimize/fold.h"
#include "codegen/optimize/guard_ids.h"
#include "codegen/optimize/hoist_from_scans.h"
#include "codegen/optimize/hoist_tables.h"
#include "codegen/optimize/merge_pads.h"
#include "codegen/optimize/normalize_reductions.h"
#include "codegen/optimize/read_halves.h"
#include "codegen/optimize/scatter_onto_tables.h"
#include "codegen/optimize/select_mode.h"
#include "codegen/optimize/sum_into_einsum.h"
#include "codegen/optimize/sum_windows_into_einsum.h"
#include "codegen/plan/rows_of_draws.h"

namespace fovea {

namespace {

Graph keep_outputs(const Graph& graph, const std::vector<std::string>& only) {
    if (only.empty()) return graph;
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        bool wanted = node.state || std::find(only.begin(), only.end(), node.name) != only.end();
        if (node.op != Op::output || wanted) return std::nullopt;
        return Tensor{&rewrite.target(), 0};
    });
}

bool has_loss(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
        return node.op == Op::output && node.name == "loss";
    });
}

/// A program between two passes.
struct Passage {
    const ProgramRequest& request;
    const target::Target& target;
    CompiledProgram& program;
    Graph graph;
};

/// The passes on the score of one pair, a graph of a few nodes.
Graph simplify_score(const Graph& score) {
    return dead_code(common_subexpressions(fold(expand_composites(score))));
}
Graph differentiate_score(const Graph& score) {
    return add_gradients(score, {.from_loss = false, .of_inputs = true});
}

struct Pass {
    const char* name;
    const char* reason;  // why it stands where it stands
    Graph (*run)(const Passage&);
    Graph CompiledProgram::* stage = nullptr;  // where its result is kept for `fovea show`
    bool on_steps = false;  // also on the steps of scans, each a graph of its own
};

Graph differentiate(const Passage& at) {
    if (at.request.gradients == Gradients::none) return at.graph;
    return add_gradients(
        at.graph, {.from_loss = has_loss(at.graph),
                   .of_inputs = at.request.gradients == Gradients::of_parameters_and_inputs});
}

/// Attention whose sizes say that its plain ops are faster stays as it is.
Graph choose_and_fuse_attention(const Passage& at) {
    const auto why_not = [&](int id, const ScoreFunction& score) -> std::optional<std::string> {
        const bool gradient = at.request.gradients != Gradients::none;
        AttentionChoice choice =
            choose_attention(at.graph, id, score, gradient, at.request.fusion.attention,
                             at.target.lowering.attention);
        at.program.attentions.push_back(choice);
        if (choice.fused) return {};
        return choice.reason;
    };
    return fuse_attention(at.graph, simplify_score, differentiate_score, why_not, at.program.notes);
}

/// Losses of few or unknown classes keep their logits.
Graph choose_and_fuse_loss(const Passage& at) {
    const auto why_not = [&](int, const LossProduct& product) -> std::optional<std::string> {
        if (const WeightStorage storage = storage_of(at.graph[product.weight]))
            return "its weight lies as " + text_of(storage) + ", which products read alone";
        LossChoice choice = choose_loss(product, at.request.dtype, at.request.fusion.attention,
                                        at.target.lowering.loss);
        at.program.losses.push_back(choice);
        if (choice.fused) return {};
        return choice.reason;
    };
    return fuse_loss(at.graph, why_not, at.program.notes);
}

constexpr Pass kPasses[] = {
    {"keep_outputs", "so that no later pass works on what was not asked for",
     [](const Passage& at) { return keep_outputs(at.graph, at.request.only); }},
    {"hoist_tables", "before ids are guarded: tables outside of scores may be made by any ids",
     [](const Passage& at) { return hoist_tables(at.graph); }, nullptr, true},
    {"guard_ids", "of the model's own ops; whatever is made of them reads ids in range",
     [](const Passage& at) { return guard_ids(at.graph); }},
    {"select_mode", "dropout becomes a random factor or nothing before patterns are matched",
     [](const Passage& at) { return select_mode(at.graph, at.request.training); },
     &CompiledProgram::graph, true},
    {"inline_composites", "with fusion off, gradients are taken of the plain ops",
     [](const Passage& at) { return at.request.fusion ? at.graph : expand_composites(at.graph); }},
    {"raise_contraction", "products are einsums before softmax is matched",
     [](const Passage& at) { return raise_contraction(at.graph); }, nullptr, true},
    {"raise_softmax", "composites are recognised before the gradient, whose rules they carry",
     [](const Passage& at) { return at.request.fusion ? raise_softmax(at.graph) : at.graph; },
     nullptr, true},
    {"raise_attention", "after raise_softmax, whose composite it matches",
     [](const Passage& at) { return at.request.fusion ? raise_attention(at.graph) : at.graph; },
     &CompiledProgram::grouped},
    {"attend_in_steps", "a step of a scan has one query: its attention is plain ops",
     [](const Passage& at) {
         return on_steps(at.graph, [](const Graph& step) {
             return expand_composites(step, [](const Node& n) { return n.op == Op::attention; });
         });
     }},
    {"draw_ahead", "before the gradient, which reuses the same random factors",
     [](const Passage& at) { return draw_ahead(at.graph); }},
    {"fuse_attention", "before the gradient: the fused kernel has a rule of its own",
     [](const Passage& at) {
         return at.request.fusion ? choose_and_fuse_attention(at) : at.graph;
     }},
    {"fuse_loss", "likewise: its gradients are made with it",
     [](const Passage& at) { return at.request.fusion ? choose_and_fuse_loss(at) : at.graph; }},
    {"add_gradients", "on composites, so that their own rules are used", differentiate,
     &CompiledProgram::gradient},
    {"join_losses", "behind the gradient: what it gives for the terms is known then",
     [](const Passage& at) { return join_losses(at.graph, at.program.notes); }},
    {"recompute_checkpoints", "once it is known what the gradient reads",
     [](const Passage& at) { return recompute_checkpoints(at.graph); }},
    {"split_keys", "behind the gradient, which takes keys whole",
     [](const Passage& at) { return split_keys(at.graph, at.target.lowering.attention.tasks); }},
    {"merge_pads", "before pads are expanded: gradients of slices, added up, are one value",
     [](const Passage& at) { return merge_pads(at.graph); }, nullptr, true},
    {"sum_windows_into_einsum", "before sums of windows are expanded: gradients of convolutions",
     [](const Passage& at) {
         return at.request.fusion ? sum_windows_into_einsum(at.graph) : at.graph;
     },
     nullptr, true},
    {"expand_composites", "kernels are lowered from primitives",
     [](const Passage& at) { return expand_composites(at.graph); }},
    {"raise_contraction", "score regions become einsums as they are expanded",
     [](const Passage& at) { return raise_contraction(at.graph); }, nullptr, true},
    {"normalize_reductions", "row kernels and column kernels each take one kind",
     [](const Passage& at) { return normalize_reductions(at.graph); }, nullptr, true},
    {"fold", "first, so that equal values look equal",
     [](const Passage& at) { return fold(at.graph); }, nullptr, true},
    {"common_subexpressions", "the backward pass shares what the forward pass computed",
     [](const Passage& at) { return common_subexpressions(at.graph); }, nullptr, true},
    {"dead_code", "last, since every pass leaves some",
     [](const Passage& at) { return dead_code(at.graph); }, nullptr, true},
    {"hoist_from_scans", "after common subexpressions and dead code are gone from loops",
     [](const Passage& at) { return hoist_from_scans(at.graph); }},
    {"sum_into_einsum", "gradients of a loop's weights are sums over its steps",
     [](const Passage& at) { return sum_into_einsum(at.graph); }},
    {"normalize_reductions", "again, for what has left a loop",
     [](const Passage& at) { return normalize_reductions(at.graph); }},
    {"fold", "again", [](const Passage& at) { return fold(at.graph); }, nullptr, true},
    {"common_subexpressions", "again",
     [](const Passage& at) { return common_subexpressions(at.graph); }, nullptr, true},
    {"scatter_onto_tables", "once each sum that is taken twice is one value",
     [](const Passage& at) { return scatter_onto_tables(at.graph); }},
    {"rematerialise", "of primitive ops, each of them once: what is read anyway shows then",
     [](const Passage& at) { return at.request.fusion ? rematerialise(at.graph) : at.graph; }},
    {"read_halves", "once no pass asks for the types of what attention reads",
     [](const Passage& at) { return read_halves(at.graph); }},
    {"dead_code", "again", [](const Passage& at) { return dead_code(at.graph); },
     &CompiledProgram::optimized, true},
};

class Stopwatch {
  public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

void run_passes(const ProgramRequest& request, const target::Target& target,
                CompiledProgram& program, const WatchPass& watch_pass = {}) {
    Passage at{request, target, program, seal_scans(request.graph)};
    for (const Pass& pass : kPasses) {
        Stopwatch watch;
        int before = int(at.graph.nodes.size());
        const Graph graph_before = watch_pass ? at.graph : Graph();
        if (pass.on_steps)
            at.graph = on_steps(at.graph, [&](const Graph& step) {
                return pass.run({request, target, program, step});
            });
        at.graph = pass.run(at);
        program.passes.push_back(
            {pass.name, pass.reason, watch.milliseconds(), before, int(at.graph.nodes.size())});
        if (watch_pass) watch_pass(program.passes.back(), graph_before, at.graph);
        if (pass.stage) program.*pass.stage = at.graph;
    }
}

void check_parameters(const std::string& program, const std::vector<plan::Tensor>& model,
                      const std::vector<plan::Tensor>& own) {
    for (const plan::Tensor& tensor : own) {
        auto same = [&](const plan::Tensor& known) {
            return known.name == tensor.name && known.shape == tensor.shape;
        };
        if (std::none_of(model.begin(), model.end(), same))
            throw UserError("program " + program + ": its parameter " + tensor.name +
                            " is none of the model's, or has another shape");
    }
}

void collect_dims(const std::vector<plan::Tensor>& tensors, std::vector<std::string>& names) {
    for (const plan::Tensor& tensor : tensors)
        for (const Dim& dim : tensor.shape)
            for (const DimTerm& term : dim.terms())
                for (Symbol symbol : term.symbols) {
                    Text text;
                    text << symbol;
                    std::string name(text.view());
                    if (symbol && std::find(names.begin(), names.end(), name) == names.end())
                        names.push_back(name);
                }
}

/// What generated code may call the sizes of these dims.
std::vector<std::string> names_of_dims(const std::vector<std::string>& dims) {
    std::vector<std::string> names;
    for (const std::string& dim : dims) {
        names.push_back(kernel::identifier(dim));
        names.push_back(names.back() + "_dim");
    }
    return names;
}

/// The room of windows is told by that of caches.
void add_room(std::vector<std::string>& dims) {
    if (std::ranges::any_of(dims, is_room_of_window) &&
        std::ranges::find(dims, kSteps) == dims.end())
        dims.emplace_back(kSteps);
}

CompiledProgram compile_program(const ProgramRequest& request, const target::Target& target,
                                plan::KernelPool& pool,
                                const std::vector<plan::Tensor>& parameters) {
    CompiledProgram program;
    program.name = request.name;
    program.tf32 = request.tf32 && request.dtype == DType::f32;
    run_passes(request, target, program);
    Stopwatch fusing;
    program.fused = fuse::fuse(program.optimized, request.fusion.enabled);
    if (is_half(request.dtype))
        fuse::store_halves(program.optimized, program.fused, request.dtype,
                           target.lowering.independent_tiles);
    int groups = int(program.fused.groups.size());
    program.passes.push_back({"fuse",
                              "last of the graph: passes before it change which ops are adjacent",
                              fusing.milliseconds(), int(program.optimized.nodes.size()), groups});
    const plan::Shards shards = choose_shards(program.optimized, program.fused, target);
    const target::Lowering numbers =
        shards.count > 1 ? lowering_in_shards(target) : target.lowering;
    Stopwatch lowering;
    lower::Lowered lowered = lower::lower(program.optimized, program.fused, numbers, program.tf32);
    program.passes.push_back({"lower", "each group is a kernel", lowering.milliseconds(), groups,
                              int(lowered.kernels.size())});
    Stopwatch planning;
    program.plan = assemble_program(request.name, request.graph, program.optimized, program.fused,
                                    lowered, parameters, pool, numbers);
    program.plan.shards = shards;
    program.plan.reads_padding = request.reads_padding;
    plan::number_rows_of_draws(program.plan, pool.kernels());
    program.passes.push_back({"plan", "lifetimes follow from the order of the kernels",
                              planning.milliseconds(), int(lowered.kernels.size()),
                              int(program.plan.steps.size())});
    return program;
}

}  // namespace

CompiledModel compile_model(std::string name, std::string source,
                            std::vector<plan::Setting> settings,
                            std::vector<ProgramRequest> requests, target::Target target) {
    CompiledModel model;
    model.plan = {.name = std::move(name),
                  .source = std::move(source),
                  .dims = {},
                  .settings = std::move(settings),
                  .parameters = {},
                  .aliases = {},
                  .kernels = {},
                  .programs = {},
                  .target = std::move(target)};
    if (requests.empty()) throw InternalError("compile_model: no program was asked for");
    store_weights(requests);
    model.plan.parameters = parameters_of(requests[0].graph);
    model.plan.aliases = aliases_of(requests[0].graph);
    plan::KernelPool pool;
    for (const ProgramRequest& request : requests) {
        check_parameters(request.name, model.plan.parameters, parameters_of(request.graph));
        model.programs.push_back(
            compile_program(request, model.plan.target, pool, model.plan.parameters));
        model.plan.programs.push_back(model.programs.back().plan);
    }
    collect_dims(model.plan.parameters, model.plan.dims);
    for (const plan::Program& program : model.plan.programs)
        collect_dims(program.tensors, model.plan.dims);
    add_room(model.plan.dims);
    pool.avoid(names_of_dims(model.plan.dims));
    model.plan.kernels = pool.take();
    return model;
}

void watch_passes(const ProgramRequest& request, const target::Target& target,
                  const WatchPass& watch) {
    CompiledProgram program;
    run_passes(request, target, program, watch);
}

std::string print(const std::vector<PassRecord>& passes) {
    std::string text;
    for (const PassRecord& pass : passes)
        text += fmt::format("{:<24}{:>9.2f} ms  {:>6} -> {:<6} {:<10} {}\n", pass.name,
                            pass.milliseconds, pass.before, pass.after,
                            pass.before == pass.after ? "unchanged" : "", pass.reason);
    return text;
}

}  // namespace fovea
