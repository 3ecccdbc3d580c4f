// What the header of a generated model offers to people: sizes, tensors and programs under names
// that C and C++ take.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace fovea::emit {

/// A tensor as an argument or a result.
struct InterfaceTensor {
    std::string name;  // of a field
    const plan::Tensor* tensor = nullptr;
    int number = 0;  // among those of its program that calls see
    std::size_t rank() const { return tensor->shape.size(); }
    /// `words [batch, len]`, under the user's name where it is another one.
    std::string remark() const;
};

struct InterfaceProgram {
    const plan::Program* program = nullptr;
    std::string method;  // decode_step
    std::string type;  // DecodeStep, of DecodeStepInputs and others; of training_step: Step
    std::vector<InterfaceTensor> inputs, outputs;
    bool draws = false;  // its numbers depend on a seed
    bool has_states = false;  // that a session keeps
    std::string starts{};  // the method whose states are outputs of this one, which calls hide
    std::vector<const plan::Tensor*> hidden{};  // these outputs
    std::string bytes{};  // decode_step_bytes: the method that says what a call takes
};

struct InterfaceDim {
    std::string name;  // of a field
    int number = 0;  // among Model::dims
};

struct Interface {
    std::string name;  // of the model, its files and its namespace
    std::string source;  // the user's file; may be empty
    std::vector<InterfaceDim> dims;  // a call gives them
    std::vector<InterfaceDim> sizes;  // parameters have them: vocabularies
    std::vector<InterfaceProgram> programs;  // of a session
    std::vector<InterfaceProgram> training;  // training_step, or nothing
    const plan::Model* model = nullptr;

    bool has_states() const;
};

/// The model must outlive it.
Interface interface_of(const plan::Model& model);

/// Adds the symbols of a shape.
void add_symbols(std::set<std::string>& symbols, const std::vector<Dim>& shape);

/// `float`, `int32_t`, `uint8_t`: the type of an element in C.
std::string c_type(const plan::Tensor& tensor);

/// The part of the header that C reads.
std::string c_interface_text(const Interface& interface);
/// The part that C++ reads.
std::string cpp_interface_text(const Interface& interface);
/// The file that defines what C calls.
std::string c_functions_text(const Interface& interface);

}  // namespace fovea::emit
