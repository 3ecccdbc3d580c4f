// The functions of the C interface of a model: what the header declares and its file defines.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/cpp/interface/interface.h"

namespace fovea::emit {

/// A function that does not depend on a program.
struct CFunction {
    std::string remark;
    std::string head;  // int tagger_load(const char* file, tagger_weights** weights)
    std::vector<std::string> body;  // what may throw; or all of it, where nothing does
    bool may_fail = true;
};

/// The sizes of a call as an array in the order of Model::dims, each behind `access`; those that
/// parameters have are 0.
std::string sizes_of_call(const Interface& interface, const std::string& access);

/// `int tagger_forward_bytes(const tagger_session* session, …)`: what a call takes.
CFunction bytes_function(const Interface& interface, const InterfaceProgram& program);

/// Of weights and sessions.
std::vector<CFunction> functions_of(const Interface& interface);
std::vector<CFunction> functions_of_trainer(const Interface& interface);

/// What a program is called in C.
struct CNames {
    CNames(const Interface& interface, const InterfaceProgram& program);
    std::string function, inputs, outputs;
};

/// `int tagger_forward(tagger_session* session, const tagger_dims* dims, …)`
std::string function_head(const Interface& interface, const InterfaceProgram& program,
                          bool is_training);

}  // namespace fovea::emit
