// Row kernels whose rows are short: pass by pass over strips of rows, four rows at a time.
#pragma once

#include "codegen/emit/cpp/rows/row_form.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/target/cpu.h"

namespace fovea::emit {

/// The body of a kernel that `why_not_row_groups` has nothing against.
void write_row_groups(const kernel::Kernel& kernel, const kernel::LoopNest& nest,
                      const RowForm& rows, const target::CpuRows& target, Signature& signature,
                      Writer& writer);

}  // namespace fovea::emit
