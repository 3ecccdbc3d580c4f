// The files of a generated C++ model.
#pragma once

#include <string>

#include "codegen/plan/plan.h"

namespace fovea::emit {

/// `<model>.h`: declares the one function of the generated code.
std::string cpp_header(const plan::Model& model);
/// `<model>.cpp`: kernels, programs, and the model's description of itself.
std::string cpp_source(const plan::Model& model);
/// `CMakeLists.txt`: builds the model beside a copy of the runtime in `fovea/`.
std::string cmake_text(const plan::Model& model);

/// The C++ name of a model: `attention_is_all_you_need`.
std::string model_identifier(const plan::Model& model);

}  // namespace fovea::emit
