// The rows that a product with a weight of whole numbers reads.
#pragma once

#include <string>

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/schedule.h"

namespace fovea::emit {

/// `quantized_rows<8, 32>(x, fixed<576>, fixed<576>, fixed<1>)`: those of operand a, which start at
/// `start`. InternalError where the weight is read otherwise than along its rows.
std::string quantized_rows_text(const kernel::Kernel& kernel, const kernel::Contract& contract,
                                const kernel::ContractionSchedule& schedule,
                                const std::string& start);

}  // namespace fovea::emit
