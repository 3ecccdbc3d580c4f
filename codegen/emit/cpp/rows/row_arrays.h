// Memory of a row kernel for whole rows: on the stack where they are short, else of the thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/emit/cpp/rows/row_form.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/kernel.h"

#include "codegen/target/cpu.h"

namespace fovea::emit {

/// Floats of an array on the stack for a row along `lane`, whole vectors; 0: rows are too long for
/// it, or of unknown length, or there is no such axis (-1).
std::int64_t stack_size_of_row(const kernel::Kernel& kernel, kernel::AxisId lane,
                               const target::CpuRows& target);

/// Declares one array for each of `names`, of `stack_size` floats, or of a row's `extent` in the
/// thread's scratch memory where that is 0.
void write_row_arrays(const std::vector<std::string>& names, std::int64_t stack_size,
                      const std::string& extent, Signature& signature, Writer& writer);

/// What a block of rows adds up, from 0: on the stack, or in the memory of the sums. Parts on the
/// stack are copied there once, at the end: their lines may lie in another core's cache.
void write_parts(const kernel::Kernel& kernel, const std::vector<RowSum>& sums,
                 std::int64_t stack_size, const std::string& extent, Values& values,
                 Writer& writer);
void copy_parts(const kernel::Kernel& kernel, const std::vector<RowSum>& sums,
                std::int64_t stack_size, const std::string& extent, Values& values, Writer& writer);

}  // namespace fovea::emit
