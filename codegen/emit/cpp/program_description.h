// What a generated file says of a program: its checks, which are compiled once, and tables of its
// tensors and kernels.
#pragma once

#include "codegen/emit/cpp/writer.h"
#include "codegen/plan/plan.h"

namespace fovea::emit {

/// `check_…`, the tables `…_inputs` and so on, and `…_program`.
void write_program_description(const plan::Model& model, const plan::Program& program,
                               Writer& writer);

/// Writes a table of a file's description, `constexpr type name[] = {rows};`, and gives what stands
/// for it: its name, or `{}` where there are no rows.
std::string write_rows(const std::string& type, const std::string& name,
                       const std::vector<std::string>& rows, Writer& writer);

/// The same for a table that is a text, `constexpr char name[] = "row\0"`; `""` where there are no
/// rows.
std::string write_texts(const std::string& name, const std::vector<std::string>& rows,
                        Writer& writer);

/// `i32 [batch, src_len] `: the start of a tensor's row in a table.
std::string tensor_fields(const plan::Tensor& tensor);
/// A string literal.
std::string quoted(const std::string& text);

}  // namespace fovea::emit
