// One program of a generated model: the functions that run, prepare and check, and its description.
#pragma once

#include "codegen/emit/cpp/writer.h"
#include "codegen/plan/plan.h"

namespace fovea::emit {

/// Kernels have their final, distinct names in `model`.
void write_program(const plan::Model& model, const plan::Program& program, Writer& writer);

/// `"src", DType::i32, "[batch, src_len]"`: the start of a tensor's row in a table.
std::string tensor_row(const plan::Tensor& tensor);
/// `DType::f32`
std::string dtype_text(DType dtype);
/// A string literal.
std::string quoted(const std::string& text);

}  // namespace fovea::emit
