// The workspace of a program over time, as its plan has it.
#pragma once

#include <string>

#include "codegen/plan/plan.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// An SVG picture: each buffer is a box, from the phase that writes it to the one that reads it
/// last, at its place in the workspace; the line above is what lives in each phase. Empty where a
/// program has no buffers.
std::string memory_chart(const plan::Program& program, const SampleDims& dims);

}  // namespace fovea::tool
