// The tables of all fields: what schedules print, read, and draw at random is made from them.
#pragma once

#include <string>
#include <vector>

#include "codegen/target/field.h"
#include "codegen/target/target.h"

namespace fovea::target {

const std::vector<Field<Lowering>>& lowering_fields();
/// Those that GPUs, which split no products, do without.
const std::vector<Field<Lowering>>& splitting_fields();
const std::vector<Field<Cpu>>& cpu_fields();
const std::vector<Field<Gpu>>& gpu_fields();

/// Whether a field may have the value.
bool takes(const Limits& limits, double value);

/// `a whole number from 1 to 8`, `a power of two from 32 to 512`.
std::string text_of(const Limits& limits);

/// As schedules write it: the shortest text that gives the same number.
std::string text_of(double value);

}  // namespace fovea::target
