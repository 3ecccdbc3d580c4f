// What stands in the innermost loop of a pass, one row at a time or in groups.
#pragma once

#include <functional>
#include <string>

#include "codegen/emit/cpp/rows/row_accumulators.h"
#include "codegen/emit/cpp/signature.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/emit/cpp/writer.h"
#include "codegen/kernel/analysis/passes.h"

namespace fovea::emit {

/// Where a value that passes keep lies: `exp_row + k`.
using KeptAt = std::function<std::string(kernel::Id value)>;
/// Writes how the part of a sum over rows gets its term.
using AddToPart = std::function<void(kernel::Id sum)>;

/// The values of a pass, what it keeps, adds and stores.
void write_pass_body(const kernel::Kernel& kernel, const kernel::Pass& pass, const KeptAt& kept_at,
                     const AddToPart& add_to_part, Signature& signature, Writer& writer,
                     Values& values, RowAccumulators& accumulators);

}  // namespace fovea::emit
