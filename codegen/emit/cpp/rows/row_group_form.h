// Which row kernels take their rows in groups, and what they then have one of for each row.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "codegen/emit/cpp/rows/row_form.h"
#include "codegen/kernel/analysis/loop_nest.h"
#include "codegen/target/cpu.h"

namespace fovea::emit {

/// The axis whose positions are taken in groups; -1 where rows have no axis or more than one.
kernel::AxisId axis_of_groups(const kernel::LoopNest& nest, const RowForm& rows);

/// The nodes with one number for each row: they differ along `axis`, and have no inner axis.
std::set<kernel::Id> find_per_row(const kernel::Kernel& kernel, const RowForm& rows,
                                  kernel::AxisId axis);

/// Why the rows of a kernel are taken one by one, as a sentence without its end: "it has …". None:
/// they can be taken in groups.
std::optional<std::string> why_not_row_groups(const kernel::Kernel& kernel,
                                              const kernel::LoopNest& nest, const RowForm& rows,
                                              const target::CpuRows& target);

}  // namespace fovea::emit
