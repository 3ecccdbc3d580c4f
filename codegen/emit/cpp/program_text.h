// One program of a generated model: the functions that run, prepare and check, and its description.
#pragma once

#include "codegen/emit/cpp/writer.h"
#include "codegen/plan/plan.h"

namespace fovea::emit {

/// Kernels have their final, distinct names in `model`.
void write_program(const plan::Model& model, const plan::Program& program, Writer& writer);

/// `{batch, src_len, 64}`: a shape in terms of the Extents named after the dims.
std::string extents_text(const std::vector<Dim>& shape);
/// `const Extent batch = Extent::dim(0);` for the dims that `text` mentions.
void define_extents(const plan::Model& model, const std::string& text, Writer& writer);
/// `DType::f32`
std::string dtype_text(DType dtype);
/// A string literal.
std::string quoted(const std::string& text);

}  // namespace fovea::emit
