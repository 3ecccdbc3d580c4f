// From the graph of a model to planned kernels: the ordered list of passes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/choose_attention.h"
#include "codegen/choose_loss.h"
#include "codegen/fuse/fuse.h"
#include "codegen/graph/graph.h"
#include "codegen/lower/lower.h"
#include "codegen/plan/plan.h"
#include "codegen/target/target.h"

namespace fovea {

enum class Gradients { none, of_parameters, of_parameters_and_inputs };

/// Whether ops are fused, and which attentions are. Off: every composite is inlined
/// before the gradient is taken, and every op is a kernel of its own.
struct Fusion {
    bool enabled = true;
    AttentionForm attention = AttentionForm::faster;

    constexpr Fusion(bool on = true, AttentionForm form = AttentionForm::faster)
        : enabled(on), attention(form) {}
    explicit constexpr operator bool() const { return enabled; }
};

/// One computation that is wanted of a model.
struct ProgramRequest {
    std::string name;        // "forward", "gradient", "training_step", …
    Graph graph;             // as the model's function built it
    bool training = false;   // dropout is on
    Gradients gradients = Gradients::none;
    Fusion fusion{};
    std::vector<std::string> only{};  // outputs wanted; empty: all
    DType dtype = DType::f32;  // of weights and activations in memory: f32, bf16 or f16
    bool tf32 = false;  // with f32: products may round their operands to tf32
    WeightStorage weights{};  // of those that choose_weights.h chooses; one for all programs
    bool reads_padding = false;  // how far its input `src` is padded matters
};

/// A pass that ran: its name, why it stands where it does, its time, the nodes before and after.
struct PassRecord {
    std::string name, reason;
    double milliseconds = 0;
    int before = 0, after = 0;
};

/// A program at every stage.
struct CompiledProgram {
    std::string name;
    Graph graph, grouped, gradient, optimized;
    fuse::FusedGraph fused;  // over `optimized`
    plan::Program plan;      // its steps refer to the kernels of the whole model
    std::vector<PassRecord> passes;
    std::vector<std::string> notes;  // what stayed unfused as a whole, where, and why
    std::vector<AttentionChoice> attentions;  // those that can be one kernel
    std::vector<LossChoice> losses;  // those whose logits are a product
    bool tf32 = false;  // its products may round their operands to tf32
};

struct CompiledModel {
    plan::Model plan;  // what emitters take
    std::vector<CompiledProgram> programs;
};

/// Runs every pass on every program, for one target. The parameters are those of the first program,
/// which has all.
/// UserError when a program has a parameter that the first one lacks, or of another shape.
CompiledModel compile_model(std::string name, std::string source,
                            std::vector<plan::Setting> settings,
                            std::vector<ProgramRequest> requests, target::Target target = {});

/// Runs the passes of the graph, up to `fuse`, and shows each to `watch` with the graphs around it.
using WatchPass =
    std::function<void(const PassRecord& pass, const Graph& before, const Graph& after)>;
void watch_passes(const ProgramRequest& request, const target::Target& target,
                  const WatchPass& watch);

/// Each pass with what it took, as `fovea show --passes` prints it.
std::string print(const std::vector<PassRecord>& passes);

}  // namespace fovea
