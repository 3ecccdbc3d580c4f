// Which rows of random numbers a shard draws: those of its own sequences.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Sets `site_rows` of the steps of a program that is cut into shards.
void number_rows_of_draws(Program& program, const std::vector<kernel::Kernel>& kernels);

}  // namespace fovea::plan
