// One kernel of every form that lowering makes, in the layouts that it makes.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::test {

std::vector<kernel::Kernel> sample_row_kernels();
std::vector<kernel::Kernel> sample_column_kernels();
std::vector<kernel::Kernel> sample_contractions();
/// Two products of the same rows, and what is made of both.
std::vector<kernel::Kernel> sample_gated_products();
std::vector<kernel::Kernel> sample_gated_bfloat16_products();
/// Products of which each of several blocks of rows has its own: for CPUs.
std::vector<kernel::Kernel> sample_products_by_block();
/// Products whose operands are both packed, panel after panel.
std::vector<kernel::Kernel> sample_packed_products();
/// Products of bfloat16, in all layouts of their operands; and those that round floats first.
std::vector<kernel::Kernel> sample_bfloat16_contractions();
std::vector<kernel::Kernel> sample_rounded_contractions();

}  // namespace fovea::test
