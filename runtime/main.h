// The main functions of built programs, in plain types, for a compiler to read at once.
#pragma once

namespace fovea::runtime {

struct Model;
using ModelFunction = const Model& (*)();

/// What `int main` of a program returns: the work of runner_main or translator_main on the model,
/// whose own mistakes are reported as theirs. `name` is the program's where `argv` has none.
int runner_program(int argc, char** argv, const char* name, ModelFunction model);
int translator_program(int argc, char** argv, const char* name, ModelFunction model);

/// `model`, which can also run `on_cuda`.
const Model& with_cuda(const Model& model, Model (*on_cuda)(const Model&));

}  // namespace fovea::runtime
