// The files of a generated C++ model.
#pragma once

#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace fovea::emit {

/// `<model>.h`: declares the one function of the generated code.
std::string cpp_header(const plan::Model& model);
/// `<model>.cpp`: kernels and programs, compiled for each of `isas` with FOVEA_KERNELS defined;
/// and the model's description of itself, compiled once with FOVEA_DESCRIPTION, which chooses among
/// them. Compiled with neither, the file holds both, for the one instruction set of `isas`.
std::string cpp_source(const plan::Model& model, const std::vector<std::string>& isas);
/// `CMakeLists.txt`: builds the model beside a copy of the runtime in `fovea/`.
std::string cmake_text(const plan::Model& model, const std::vector<std::string>& isas);

/// The parts that sources of kernels are put together from; `model` has distinct names.
std::string kernel_headers(const plan::Model& model, const std::string& kernels);
std::string open_namespace(const plan::Model& model);
std::string close_namespace(const plan::Model& model);
/// The programs, the end of the namespace, and the table of programs that the description binds.
std::string programs_text(const plan::Model& model);
/// The model with kernel names that are C++ identifiers, no two alike, none like a function that
/// the generated file defines itself or uses.
plan::Model with_distinct_names(const plan::Model& model);

/// The C++ name of a model: `attention_is_all_you_need`.
std::string model_identifier(const plan::Model& model);

}  // namespace fovea::emit
