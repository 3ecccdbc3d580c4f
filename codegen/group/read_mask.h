// Reads a boolean tensor over scores as a mask.
#pragma once

#include "codegen/ops/attention/mask.h"

namespace fovea {

/// The mask that `keep`, a boolean that broadcasts to scores [batch, (heads,) queries, keys], says:
/// comparisons of positions become a window and lengths, what else there is stays a tensor.
Mask read_mask(Tensor keep, const Shape& scores);

}  // namespace fovea
