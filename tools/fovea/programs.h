// Which programs of a model are compiled for what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/model/load_model.h"

namespace fovea::tool {

/// `forward` or `gradient`, with `_train` when dropout is on: what the runner looks for.
ProgramRequest runner_program(const LoadedModel& model, bool gradient, bool training,
                              Fusion fusion);

/// All programs of the runner that the model has: the gradient where there is something to
/// differentiate, the `_train` ones where there is dropout.
std::vector<ProgramRequest> runner_programs(const LoadedModel& model, Fusion fusion);

/// Whether the model has a `loss` and parameters that move by it.
bool is_trained(const Graph& graph);
/// The program `training_step` of such a model: what runtime::TrainingStep runs.
ProgramRequest training_step_program(const LoadedModel& model, Fusion fusion);

/// training_step, evaluate and what translates: what the translator looks for.
std::vector<ProgramRequest> translator_programs(const LoadedModel& model, Fusion fusion);

/// `prefill`, `decode_step` and, where the model has attention, `attention`: what `translate` runs.
std::vector<ProgramRequest> translation_programs(const LoadedModel& model, Fusion fusion);

/// Further programs that the model's entry has.
std::vector<ProgramRequest> extra_programs(const LoadedModel& model, Fusion fusion);

/// `prefill` and `decode_step` (codegen/decode/derive_decoding.h), of models that are decoded token
/// by token; none of others, and of those that have programs of their own. They are those of the
/// model as it is evaluated.
std::vector<ProgramRequest> text_programs(const LoadedModel& model, Fusion fusion);
/// The same and, of models without a source, `score`, their loss alone.
std::vector<ProgramRequest> decoding_programs(const LoadedModel& model, Fusion fusion);
/// The same and, where a model without a source is trained, `training_step` and `evaluate`, its
/// loss alone, and where it has pairs (--lora) `merge`: what programs of language models look for.
std::vector<ProgramRequest> language_programs(const LoadedModel& model, Fusion fusion);
/// Why a model has no such programs, the op that is in the way with its line.
std::optional<std::string> why_not_decoded(const LoadedModel& model);

/// Those of the runner, and what the model's driver runs: `show --program` takes each.
std::vector<ProgramRequest> all_programs(const LoadedModel& model, Fusion fusion);

/// The value of `--fusion`: `on` takes the faster form of an attention whose sizes are static,
/// `always` one kernel whatever it is estimated to take.
Fusion fusion_of(const Arguments& given);
/// Adds `--fusion`.
void add_fusion_option(po::options_description& options);

/// What `show --stage fused` prints: the groups of a program, what stayed apart, and why.
std::string fusion_text(const CompiledProgram& program);

/// Whether there is anything to differentiate, and anything to differentiate by.
bool has_gradient(const Graph& graph);
/// The same of a model with its weights: those of 8 and 4 bits have none.
bool has_gradient(const LoadedModel& model);
bool depends_on_mode(const Graph& graph);

/// `compile_model` of these programs for this machine's cores, or for GPUs, as the model's targets
/// are described.
enum class Kernels { of_cpu, of_gpu };
CompiledModel compile(const LoadedModel& model, std::vector<ProgramRequest> requests,
                      Kernels kernels = Kernels::of_cpu);

}  // namespace fovea::tool
