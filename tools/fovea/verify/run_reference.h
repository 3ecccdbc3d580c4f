// Runs a model in the float64 reference.
#pragma once

#include <string>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/runner/run_model.h"
#include "runtime/safetensors.h"
#include "tools/fovea/model/load_model.h"

namespace fovea::tool {

/// The graph with its gradient: from `loss`, or from inputs `<output>.grad`.
Graph with_gradients(const Graph& graph);

/// As `runtime::run_model`, in the interpreter. `weights` may be null.
void run_reference(const LoadedModel& model, const runtime::RunRequest& request, Fusion fusion,
                   const runtime::SafetensorsFile& inputs, const runtime::SafetensorsFile* weights,
                   const std::string& output_path);

}  // namespace fovea::tool
