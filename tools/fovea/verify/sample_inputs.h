// Random parameters and inputs for verification, at sizes that are multiples of nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/graph/op_def.h"
#include "codegen/pipeline.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// Sizes to verify at, and how lengths are drawn.
struct Sample {
    SampleDims dims;
    enum class Lengths { full, positive, one_is_zero, any } lengths = Lengths::positive;
    std::uint64_t seed = 1;

    std::string text() const;  // `batch=3 src_len=7 tgt_len=5`
};

/// Batch and lengths 1; 3 and 7, 5; 2 and 17, 33; a row of length 0; random ones. Those `given`,
/// as DIM=N, are the same in all; the others are lowered where the model's tables end before.
/// UserError for an unknown dim.
std::vector<Sample> samples_for(const CompiledModel& model, const std::vector<std::string>& given);

/// Values by name for a program's parameters and inputs, exact in float32.
using Values = std::map<std::string, Array>;
Values draw_values(const plan::Program& program, const Sample& sample);

}  // namespace fovea::tool
