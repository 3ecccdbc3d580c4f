// The functions that run and prepare one program of a generated model, which are compiled for each
// instruction set.
#pragma once

#include "codegen/emit/cpp/writer.h"
#include "codegen/plan/plan.h"

namespace fovea::emit {

/// `run_…` and `prepare_…`. Kernels have their final, distinct names in `model`.
void write_program_code(const plan::Model& model, const plan::Program& program, Writer& writer);

/// The dims that a text mentions, from those of `call`.
void define_dims(const plan::Model& model, const std::string& text, Writer& writer);

}  // namespace fovea::emit
