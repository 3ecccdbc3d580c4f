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
std::vector<kernel::Kernel> sample_gated_float16_products();
/// Products of which each of several blocks of rows has its own: for CPUs.
std::vector<kernel::Kernel> sample_products_by_block();
/// Products whose operands are both packed, panel after panel.
std::vector<kernel::Kernel> sample_packed_products();
/// Products of bfloat16, in all layouts of their operands; and those that round floats first.
std::vector<kernel::Kernel> sample_bfloat16_contractions();
std::vector<kernel::Kernel> sample_rounded_contractions();
/// The same of float16, with weights in panels of columns.
std::vector<kernel::Kernel> sample_float16_contractions();
std::vector<kernel::Kernel> sample_contractions_to_float16();
/// What a kernel of bfloat16 is of float16.
kernel::Kernel in_float16(kernel::Kernel kernel);
std::vector<kernel::Kernel> in_float16(const std::vector<kernel::Kernel>& kernels);

}  // namespace fovea::test
