// A model of kernels, compiled by the C++ compiler into a shared object and loaded: what the tests
// of the emitter run. Every kernel is a program of its own, so that one compilation serves many.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/program.h"
#include "tests/emit/arrays.h"
#include "tests/isas_here.h"

namespace fovea::test {

/// A model with one program per kernel; its tensors are the kernel's buffers, read ones as inputs.
plan::Model model_of_kernels(const std::string& name, const std::vector<kernel::Kernel>& kernels);

/// For tests of values: "-O2" for the best instruction set of this machine, with bfloat16 and
/// without; "-O0", which takes the compiler a third of the time, for the others.
std::string optimization_for(const std::string& isa);

/// Writes the model's files, compiles them for an instruction set and opens the result. Fails the
/// test when the compiler prints anything.
const runtime::Model& compile_and_load(const plan::Model& model, const std::string& isa,
                                       const std::string& optimization = "-O2");

/// Runs program `number` of `model` on the arrays with this many threads.
void run_program(const runtime::Model& model, int number, const kernel::DimValues& dims,
                 Arrays& arrays, int threads);

}  // namespace fovea::test
