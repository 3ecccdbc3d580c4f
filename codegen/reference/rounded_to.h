// Arrays of formats of fewer significant bits, to which kernels round on the way.
#pragma once

#include "codegen/base/number_format.h"
#include "codegen/graph/op_def.h"

namespace fovea {

Array rounded_to(const NumberFormat& format, Array array);

}  // namespace fovea
